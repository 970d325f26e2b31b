import {
  auditPages,
  checkLegs,
  checkSteps,
  stepsOf,
  type RecordAudit,
  type RecordWithPostings,
  type Steps,
} from '../../core/ledger/audit-checks.js';
import { accounts, type Posting } from '../../core/ledger/posting.js';
import { needsWorkflow } from '../../core/instructions/instruction.js';
import { charges, suspenseFeeOf, type Charge } from './record.js';
import {
  acceptPosting,
  creditPosting,
  feePosting,
  suspensePosting,
  suspenseStep,
} from './postings.js';

/** A completed charge is credited once, by the payment itself or by an operator's acceptance. */
function stepsOfCharge(charge: Charge & RecordWithPostings): Steps {
  const steps = stepsOf(charge);
  const suspense = steps.filter(
    (step) => step.startsWith('suspense-') || step.startsWith('return-'),
  );
  if (charge.status !== 'completed') return { must: [], may: suspense };
  const credit = steps.includes('accept') ? 'accept' : 'credit';
  return { must: [credit], may: [...suspense, 'fee'] };
}

/** Checks that every charge has the postings of its state and no others, and a next check while it needs a workflow. */
export const auditCharges: RecordAudit = {
  pages: [auditPages(charges, ({ records }) => records.flatMap(checkCharge))],
};

function checkCharge(charge: Charge & RecordWithPostings): string[] {
  const problems = [
    ...checkSteps(charge, stepsOfCharge(charge)),
    ...checkLegs(charge, expectedPostings(charge), 'charge'),
    ...checkSuspenseFees(charge),
  ];
  if (needsWorkflow(charge) && charge.next_check_at === null) {
    problems.push(`${charge._id} is ${charge.status} and has no next check`);
  }
  return problems;
}

/** The expected postings. What was owed at their time is known only from the postings themselves. */
function expectedPostings(charge: Charge & RecordWithPostings): Record<string, Posting> {
  const at = charge.created_at;
  const { provider_fee_minor: fee } = charge;
  const owedIn = (step: string) =>
    charge.postings
      .filter(({ _id }) => _id === `${charge._id}/${step}`)
      .flatMap(({ legs }) => legs)
      .find(({ account }) => account === accounts.receivable(charge.tenant_id))?.amount_minor ?? 0n;
  const steps = stepsOf(charge);
  const later = steps.includes('fee');
  const credited = later ? { ...charge, provider_fee_minor: null } : charge;
  return {
    credit: creditPosting(credited, at, owedIn('credit')),
    accept: acceptPosting(credited, at, {
      repaidMinor: owedIn('accept'),
      suspenseFeeMinor: suspenseFeeIn(charge, charge.attempt),
    }),
    ...(later &&
      fee !== null && {
        fee: feePosting(charge, at, { feeMinor: fee, owedMinor: -owedIn('fee') }),
      }),
    // A part may have been returned since: then the amount in suspense is another one.
    ...Object.fromEntries(
      (steps.some((step) => step.startsWith('return-')) ? [] : charge.suspended).map((payment) => {
        const isLater = steps.includes(`${suspenseStep(payment)}-fee`);
        const feeMinor = isLater ? 0n : (suspenseFeeOf(charge, payment.attempt) ?? 0n);
        return [suspenseStep(payment), suspensePosting(charge, at, payment, feeMinor)];
      }),
    ),
  };
}

/** The fee of an attempt that was booked without a credit. */
function suspenseFeeIn(
  { _id: id, provider, postings }: Charge & RecordWithPostings,
  attempt: number,
): bigint {
  const step = `${id}/${suspenseStep({ attempt })}`;
  return postings
    .filter(({ _id }) => _id === step || _id === `${step}-fee`)
    .flatMap(({ legs }) => legs)
    .filter(({ account }) => account === accounts.providerFees(provider))
    .reduce((sum, { amount_minor: minor }) => sum + minor, 0n);
}

/** Reports fees of payments that are not credited and are booked otherwise than the charge says. */
const checkSuspenseFees = (charge: Charge & RecordWithPostings): string[] =>
  (charge.suspense_fees ?? [])
    .filter(({ attempt, fee_minor: fee }) => suspenseFeeIn(charge, attempt) !== fee)
    .map(
      ({ attempt, fee_minor: fee }) =>
        `${charge._id} has not booked the fee ${fee} of attempt ${attempt}`,
    );
