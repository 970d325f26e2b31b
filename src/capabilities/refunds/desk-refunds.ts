import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { timelineEntry } from '../../core/instructions/instruction.js';
import { payFromAvailable } from '../../core/ledger/receivable.js';
import {
  charges,
  isUndecided,
  leftOf,
  reversibleMinorOf,
  type Charge,
  type SuspendedPayment,
} from '../charges/record.js';
import { changeRefund, countRefund, referenceOf } from './mutations.js';
import { deskRefundPosting, returnPosting } from './postings.js';
import { newRefund, refunds, type Refund } from './record.js';
import { withSuspended } from './returns.js';

/** A refund that somebody has made at the provider's own desk, as the provider reports it. */
type RecordDeskRefund = {
  tenantId: string;
  /** The refund's id, derived from the provider's. */
  id: string;
  charge: string;
  attempt: number;
  providerRefundId: string;
  amountMinor: bigint;
  /** An open refund of ours with this charge and amount, which the provider has not named: it may be the same. Absent without one. */
  mayBe?: string;
};

/** The result of `recordDeskRefund`. `unknown`: nothing is known here that it could return. */
export type RecordDeskRefundResult = 'recorded' | 'unchanged' | 'unknown';

/**
 * Records a refund that was made at the provider's desk, once: the payer's money goes to clearing. The refund of a payment in
 * suspense is taken from suspense.
 */
export const recordDeskRefund: Mutation<RecordDeskRefund, { result: RecordDeskRefundResult }> = {
  reads: ({ tenantId, id, charge }) => ({
    records: [refunds.ref(id), charges.ref(charge)],
    wallets: [tenantId],
  }),
  decide: (uow, input, now) => ({ result: decideDeskRefund(uow, input, now) }),
};

/** The result of `refuseDeskRefund`. `made`: it is recorded here, so its failure is a fact about that record. */
export type RefuseDeskRefundResult = 'refused' | 'made' | 'returned' | 'unknown';

/**
 * Notes that the provider has refused a refund of its own desk before it reported it as made. A report that it was made, which
 * arrives later, then moves no money.
 */
export const refuseDeskRefund: Mutation<
  Pick<RecordDeskRefund, 'tenantId' | 'id' | 'charge'>,
  { result: RefuseDeskRefundResult }
> = {
  reads: ({ id, charge }) => ({ records: [refunds.ref(id), charges.ref(charge)] }),
  decide: (uow, input, now) => ({ result: decideRefusedDeskRefund(uow, input, now) }),
  leavesWallet: () => true,
};

/**
 * Notes a failed refund that the provider has not named. If a refund of its amount is recorded later, it may be that one, so an
 * operator is called.
 */
export const noteUnnamedRefusal: Mutation<
  { tenantId: string; id: string; event: string; amountMinor: bigint },
  { noted: boolean }
> = {
  reads: ({ id }) => ({ records: [charges.ref(id)] }),
  decide(uow, { tenantId, id, event, amountMinor }, now) {
    const charge = uow.get(charges, id);
    const known = charge?.unnamed_refusals ?? [];
    if (charge?.tenant_id !== tenantId || known.some((each) => each.event === event)) {
      return { noted: false };
    }
    uow.change(charges, {
      ...charge,
      unnamed_refusals: [...known, { event, amount_minor: amountMinor }],
      version: charge.version + 1,
      updated_at: now,
    });
    return { noted: true };
  },
  leavesWallet: () => true,
};

/** Takes back the note of a failed refund that the provider has not named: its list has it now. */
export const forgetUnnamedRefusal: Mutation<
  { tenantId: string; id: string; event: string },
  { forgotten: boolean }
> = {
  reads: ({ id }) => ({ records: [charges.ref(id)] }),
  decide(uow, { tenantId, id, event }, now) {
    const charge = uow.get(charges, id);
    const known = charge?.unnamed_refusals ?? [];
    const unnamed_refusals = known.filter((each) => each.event !== event);
    if (charge?.tenant_id !== tenantId || unnamed_refusals.length === known.length) {
      return { forgotten: false };
    }
    const version = charge.version + 1;
    uow.change(charges, { ...charge, unnamed_refusals, version, updated_at: now });
    return { forgotten: true };
  },
  leavesWallet: () => true,
};

/** The failed refund of this amount that the provider has not named; undefined if there is none. */
const unnamedRefusalOf = (charge: Charge, { amountMinor }: RecordDeskRefund) =>
  charge.unnamed_refusals?.find((each) => each.amount_minor === amountMinor);

const MAY_HAVE_FAILED =
  'the provider had reported a failed refund of this amount without naming it: look it up there';

function decideDeskRefund(
  uow: UnitOfWork,
  input: RecordDeskRefund,
  now: Date,
): RecordDeskRefundResult {
  const charge = uow.get(charges, input.charge);
  if (charge?.tenant_id !== input.tenantId) return 'unknown';
  if (uow.get(refunds, input.id) || charge.returned_refunds.includes(input.id)) return 'unchanged';
  if (charge.refused_refunds?.includes(input.id)) return 'unchanged';
  const suspended = charge.suspended.find(({ attempt }) => attempt === input.attempt);
  if (suspended) return returnSuspended(uow, { charge, suspended, input }, now);
  if (charge.status !== 'completed' || charge.attempt !== input.attempt) return 'unknown';
  const wallet = uow.wallet(input.tenantId);
  const { paidMinor, owedMinor } = payFromAvailable(wallet, input.amountMinor);
  const open = deskRefund(charge, input, owedMinor, now);
  uow.create(refunds, open);
  uow.takeReference(referenceOf(open), open._id);
  uow.post(deskRefundPosting(open, now, owedMinor));
  uow.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor - paidMinor,
    receivableMinor: wallet.receivableMinor + owedMinor,
  });
  forgetRefusal(uow, charge, input);
  countRefund(uow, charge._id, { refundingMinor: 0n, refundedMinor: input.amountMinor }, now);
  changeRefund(uow, { ...open, status: 'processing' }, open);
  return 'recorded';
}

function decideRefusedDeskRefund(
  uow: UnitOfWork,
  { tenantId, id, charge: chargeId }: Pick<RecordDeskRefund, 'tenantId' | 'id' | 'charge'>,
  now: Date,
): RefuseDeskRefundResult {
  const charge = uow.get(charges, chargeId);
  if (charge?.tenant_id !== tenantId) return 'unknown';
  if (uow.get(refunds, id)) return 'made';
  if (charge.returned_refunds.includes(id)) return 'returned';
  const refused = charge.refused_refunds ?? [];
  if (refused.includes(id)) return 'refused';
  uow.change(charges, {
    ...charge,
    refused_refunds: [...refused, id],
    version: charge.version + 1,
    updated_at: now,
  });
  return 'refused';
}

/** The reason to call an operator for a refund that may be one of ours without its note; null if there is none. */
const sameAs = ({ providerRefundId, mayBe }: RecordDeskRefund): string | null =>
  mayBe === undefined
    ? null
    : `the refund ${providerRefundId} at the provider has no note of ours, and may be ${mayBe}: look it up there`;

/**
 * The record of a refund that the provider reports as made. It counts as submitted, so that its provider can be asked about
 * it.
 */
function deskRefund(charge: Charge, made: RecordDeskRefund, owedMinor: bigint, now: Date): Refund {
  const { id, amountMinor, providerRefundId } = made;
  const short =
    'refunded at the provider, and the wallet could not cover it: the tenant owes the rest';
  const over = 'refunded at the provider beyond the amount of the charge';
  const excess = leftOf(charge, reversibleMinorOf(charge)) < amountMinor ? over : null;
  const doubt = unnamedRefusalOf(charge, made) ? MAY_HAVE_FAILED : null;
  const reasons = [sameAs(made), owedMinor > 0n ? short : (excess ?? doubt)];
  const reason = reasons.filter((each) => each !== null).join('; ') || null;
  const detail = 'the refund was made at the provider';
  return {
    ...newRefund(charge, { id }, now),
    amount_minor: amountMinor,
    made_by: 'provider',
    status: 'completed',
    provider_refund_id: providerRefundId,
    submissions: 1,
    first_submitted_at: now,
    acknowledged_at: now,
    completed_at: now,
    ...(reason === null && { next_check_at: null }),
    attention: reason === null ? null : { since: now, reason },
    timeline: [timelineEntry(now, 'webhook', charge.provider, { detail })],
  };
}

/** The recorded refund explains one failure that the provider has not named. */
function forgetRefusal(uow: UnitOfWork, charge: Charge, made: RecordDeskRefund): void {
  const refusal = unnamedRefusalOf(charge, made);
  if (!refusal) return;
  const left = charge.unnamed_refusals?.filter((each) => each !== refusal) ?? [];
  uow.change(charges, { ...charge, unnamed_refusals: left });
}

/** A payment in suspense that the provider has refunded: suspense → clearing. */
function returnSuspended(
  uow: UnitOfWork,
  {
    charge,
    suspended,
    input,
  }: { charge: Charge; suspended: SuspendedPayment; input: RecordDeskRefund },
  now: Date,
): RecordDeskRefundResult {
  const { id, amountMinor } = input;
  // A payment that an operator is returning is not returned twice: the provider refuses one of the two. A proven return has its
  // money booked already.
  if (amountMinor > suspended.amount_minor || !isUndecided(suspended)) return 'unknown';
  const rest = suspended.amount_minor - amountMinor;
  const left = charge.suspended.flatMap((payment) => {
    if (payment !== suspended) return [payment];
    return rest > 0n ? [{ ...payment, amount_minor: rest }] : [];
  });
  uow.post(returnPosting(charge, now, { refund: id, amountMinor }));
  const detail = `${amountMinor} of attempt ${suspended.attempt} was refunded at the provider, from suspense`;
  const attempts = rest === 0n ? [suspended.attempt] : [];
  const change = {
    suspended: left,
    returned_refunds: [...charge.returned_refunds, id],
    returned_attempts: [...charge.returned_attempts, ...attempts],
    detail,
    attention: unnamedRefusalOf(charge, input) ? MAY_HAVE_FAILED : null,
  };
  uow.change(charges, withSuspended(charge, change, now));
  return 'recorded';
}
