import type { Act } from '../../core/audit/entry.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type { HoldStep, TransitionResult } from '../../core/instructions/held-instruction.js';
import { transitionHeld } from '../../core/instructions/held-transitions.js';
import {
  instructionState,
  needsWorkflow,
  timelineEntry,
} from '../../core/instructions/instruction.js';
import { moveHold, type HoldMovement, type WalletBalances } from '../../core/ledger/posting.js';
import {
  attemptReference,
  attentionOfSuspense,
  charges,
  isUndecided,
  readAttempt,
  suspenseFeeOf,
  type Charge,
  type SuspendedPayment,
} from '../charges/record.js';
import { holdOf, putBackPosting, returnPosting } from './postings.js';
import { newRefund, refunds, type Refund } from './record.js';
import { CHARGE_CHANGES, isAnother, meantBy, transitionRules } from './transitions.js';

/** An operator returns a payment in suspense to its payer: a refund of that attempt, which holds nothing in the wallet. */
export type OrderReturn = {
  tenantId: string;
  /** The id of the refund. */
  id: string;
  charge: string;
  attempt: number;
  act: Act;
};

/** Null if this payment is not in suspense, or is being returned, or was returned by an earlier refund. */
export type OrderReturnResult = { refund: Refund | null };

/** Orders the return of a payment in suspense, once. An operator accepts no payment that is being returned. */
export const orderReturn: Mutation<OrderReturn, OrderReturnResult> = {
  reads: ({ id, charge }) => ({ records: [charges.ref(charge), refunds.ref(id)] }),
  decide: decideOrder,
  audited: (uow, { charge }) => instructionState(uow.get(charges, charge)),
  leavesWallet: () => true,
};

function decideOrder(uow: UnitOfWork, input: OrderReturn, now: Date): OrderReturnResult {
  const { tenantId, id, attempt } = input;
  const made = uow.get(refunds, id);
  if (made) return { refund: made };
  const charge = uow.get(charges, input.charge);
  const payment = charge?.suspended.find((each) => each.attempt === attempt);
  if (charge?.tenant_id !== tenantId || !payment || !isUndecided(payment)) {
    return { refund: null };
  }
  const refund = refundOf(charge, payment, id, now);
  uow.create(refunds, refund);
  uow.takeReference({ collection: refunds, tenantId, reference: refund.reference }, id);
  const suspended = replaced(charge, payment, { ...payment, returning: id });
  const detail = `an operator returns ${payment.amount_minor} of attempt ${attempt}, by the refund ${id}`;
  uow.change(charges, withSuspended(charge, { suspended, detail, attention: null }, now));
  return { refund };
}

const refundOf = (
  charge: Charge,
  { attempt, amount_minor: amountMinor }: SuspendedPayment,
  id: string,
  now: Date,
): Refund => ({
  ...newRefund(charge, { id }, now),
  amount_minor: amountMinor,
  made_by: 'operator',
  provider_charge_reference: attemptReference({ _id: charge._id, attempt }),
  provider_charge_handle: attempt === charge.attempt ? charge.handle : null,
  timeline: [
    timelineEntry(now, 'accepted', 'operator', { detail: 'a payment in suspense is returned' }),
  ],
});

const replaced = (
  { suspended }: Charge,
  payment: SuspendedPayment,
  by: SuspendedPayment | null,
): SuspendedPayment[] =>
  suspended.flatMap((each) => {
    if (each !== payment) return [each];
    return by === null ? [] : [by];
  });

type SuspendedChange = Partial<
  Pick<Charge, 'returned_refunds' | 'returned_attempts' | 'proven_returns'>
> & {
  suspended: SuspendedPayment[];
  detail: string;
  attention: string | null;
};

/**
 * The charge after a change of its payments in suspense. `attention`: the reason to call an operator; null if this change gives
 * none. The present attention stays while a payment waits for a decision.
 */
export function withSuspended(
  charge: Charge,
  { suspended, detail, attention, ...set }: SuspendedChange,
  now: Date,
): Charge {
  const kept = attentionOfSuspense({ ...charge, suspended });
  const raised = attention === null ? kept : { since: now, reason: attention };
  const next: Charge = {
    ...charge,
    ...set,
    suspended,
    attention: raised,
    version: charge.version + 1,
    updated_at: now,
    timeline: [...charge.timeline, timelineEntry(now, 'suspense', 'bursar', { detail })],
  };
  return { ...next, next_check_at: needsWorkflow(next) ? (next.next_check_at ?? now) : null };
}

/** The effect of a fact about a return, on the refund, its charge and the wallet. */
type ReturnMovement = Pick<TransitionResult<Refund>, 'verdict' | 'next'> &
  HoldMovement & { charge: Charge; refundingMinor: bigint; refundedMinor: bigint };

type Parts = { refund: Refund; charge: Charge };

/**
 * Applies a fact to the return of a payment in suspense. The payment leaves suspense once the provider has refunded it, and an
 * operator decides again if it has not. A return that is proven after an operator has failed it counts while nobody has decided
 * otherwise. After that it is booked like any payment that is proven late, and the tenant owes it if the payment was credited.
 * If the payment waits in suspense again, the next proof or an operator's `complete` takes it from there.
 */
export function moveReturn(
  { refund, charge }: Parts,
  told: InstructionFact,
  now: Date,
  wallet: WalletBalances,
): ReturnMovement {
  const meant = meantBy(refund, told);
  const isLate = isProvenLate({ refund, charge }, meant);
  const fact = isLate ? proofIn(meant) : meant;
  const given = isLate ? reopened(refund) : refund;
  const isFailed = refund.status === 'failed';
  if (isFailed && fact.kind === 'operator_confirmed' && !isOwed({ refund, charge })) {
    return { ...UNMOVED, verdict: 'stale', next: refund, charge };
  }
  const rules = transitionRules(given, fact, wallet);
  const { verdict, next, ledgerEffects } = transitionHeld(given, fact, now, rules);
  const sum: ReturnMovement = {
    ...UNMOVED,
    verdict,
    next: next === given ? refund : next,
    charge,
    postings: isLate && refund.in_suspense ? unbooked(refund, now, wallet) : [],
  };
  return ledgerEffects.reduce((moved, step) => applyStep(moved, step, now, wallet), sum);
}

const UNMOVED = {
  postings: [],
  availableMinor: 0n,
  receivableMinor: 0n,
  refundingMinor: 0n,
  refundedMinor: 0n,
} as const satisfies Omit<ReturnMovement, 'verdict' | 'next' | 'charge'>;

/** A return that was booked in suspense takes its payment from there: the first booking is taken back. */
const unbooked = (refund: Refund, now: Date, wallet: WalletBalances) =>
  moveHold(holdOf(refund), 'suspense-reversal', now, wallet).postings;

/** The proof of a return: the provider's, or the operator's word for it. */
const proofIn = (fact: InstructionFact): InstructionFact =>
  fact.kind === 'operator_confirmed'
    ? { amountMinor: null, sessionId: null, ...fact, kind: 'succeeded' }
    : fact;

/**
 * True if the tenant has the money of this return: its charge was completed by the returned attempt. A payment that is still in
 * suspense, or that another return has taken from there, was never the tenant's.
 */
function isOwed({ refund, charge }: Parts): boolean {
  const attempt = readAttempt(refund.provider_charge_reference)?.attempt;
  return (
    charge.status === 'completed' &&
    attempt === charge.attempt &&
    !charge.suspended.some((payment) => payment.attempt === attempt)
  );
}

const paymentOf = ({ refund, charge }: Parts): SuspendedPayment | undefined =>
  charge.suspended.find(
    ({ attempt }) => attempt === readAttempt(refund.provider_charge_reference)?.attempt,
  );

/** True if the fact proves a failed return, and its payment is in suspense as it was, or again. */
function isProvenLate(parts: Parts, fact: InstructionFact): boolean {
  const { refund } = parts;
  const payment = paymentOf(parts);
  const { status, reversed_at: reversedAt, in_suspense: isBooked, amount_minor: amount } = refund;
  if (status !== 'failed' || reversedAt !== null || isAnother(refund, fact)) return false;
  if (payment?.amount_minor !== amount || payment.returning !== undefined) return false;
  if (fact.kind !== 'succeeded' && fact.kind !== 'operator_confirmed') return false;
  const { amountMinor = null } = fact;
  // An operator confirms what is booked already, or the amount that the provider reports.
  if (amountMinor === null) return fact.kind === 'succeeded' || isBooked;
  return amountMinor === amount;
}

const reopened = (refund: Refund): Refund => ({
  ...refund,
  status: 'processing',
  in_suspense: false,
  failure: null,
  monitor_until: null,
});

function applyStep(
  moved: ReturnMovement,
  step: HoldStep,
  now: Date,
  wallet: WalletBalances,
): ReturnMovement {
  const { next: refund, charge } = moved;
  const { _id: id, amount_minor: amountMinor } = refund;
  const payment = paymentOf({ refund, charge });
  switch (step) {
    case 'capture': {
      const suspended = payment ? replaced(charge, payment, null) : charge.suspended;
      const attempts = payment ? [payment.attempt] : [];
      const { attempt = 0, returned_by: by = id } = payment ?? {};
      const after = withSuspended(
        charge,
        {
          suspended,
          returned_refunds: [...charge.returned_refunds, id],
          returned_attempts: [...charge.returned_attempts, ...attempts],
          ...(by !== id && proving(charge, { attempt, by })),
          detail: `${amountMinor} was returned to the customer, from suspense`,
          attention: null,
        },
        now,
      );
      const posted = returnPosting(charge, now, { refund: id, amountMinor });
      return { ...moved, charge: after, postings: [...moved.postings, posted] };
    }
    case 'release': {
      const { returning: _, ...free } = payment ?? { returning: id };
      const suspended =
        payment?.returning === id
          ? replaced(charge, payment, free as SuspendedPayment)
          : charge.suspended;
      const proven = payment?.returned_by;
      const detail = proven === undefined ? NOT_RETURNED : returnedBy(proven);
      return {
        ...moved,
        charge: withSuspended(charge, { suspended, detail, attention: detail }, now),
      };
    }
    case 'reversal':
      // The payer of the return gets the money back: suspense, or the wallet that was debited for it.
      return charge.returned_refunds.includes(id)
        ? { ...moved, ...putBack(moved, now) }
        : moveLate(moved, step, now, wallet);
    default:
      return moveLate(moved, step, now, wallet);
  }
}

const NOT_RETURNED = 'the payment in suspense was not returned to the customer';
const returnedBy = (proven: string) =>
  `the payment in suspense was returned by the refund ${proven}, which must be completed`;

/** The change of the charge's counts by a return that it does not count yet: its debit counts at once. */
const FIRST_CHANGES: Partial<typeof CHARGE_CHANGES> = {
  suspense: CHARGE_CHANGES.suspense,
  'suspense-debit': [0n, 1n],
};

/**
 * Moves the money of a return that was proven after an operator had decided otherwise. The charge counts it like any refund
 * from then on if the tenant has the payment, and so pays its return.
 */
function moveLate(
  moved: ReturnMovement,
  step: HoldStep,
  now: Date,
  wallet: WalletBalances,
): ReturnMovement {
  const { next: refund, charge } = moved;
  const { late_returns: late = [] } = charge;
  const isCounted = late.includes(refund._id);
  const change = isCounted ? CHARGE_CHANGES[step] : FIRST_CHANGES[step];
  const [refunding, refunded] = isCounted || isOwed({ refund, charge }) ? (change ?? []) : [];
  const { postings, availableMinor, receivableMinor } = moveHold(holdOf(refund), step, now, wallet);
  const noted = withProof({ refund, charge }, step, now);
  return {
    ...moved,
    postings: [...moved.postings, ...postings],
    charge:
      isCounted || refunding === undefined
        ? noted
        : { ...noted, late_returns: [...late, refund._id] },
    availableMinor: moved.availableMinor + availableMinor,
    receivableMinor: moved.receivableMinor + receivableMinor,
    refundingMinor: moved.refundingMinor + (refunding ?? 0n) * refund.amount_minor,
    refundedMinor: moved.refundedMinor + (refunded ?? 0n) * refund.amount_minor,
  };
}

/**
 * The charge that notes that this return of a payment is proven, while another one is under way or made: if that one fails or is
 * taken back, nobody accepts or returns the payment again until this one is completed or taken back.
 */
function withProof({ refund, charge }: Parts, step: HoldStep, now: Date): Charge {
  const { _id: id } = refund;
  const payment = paymentOf({ refund, charge });
  if (payment === undefined) return withProofOfGone({ refund, charge }, step);
  const { returned_by: by, ...free } = payment;
  if (step === 'suspense' && payment.returning !== undefined && payment.returning !== id) {
    const suspended = replaced(charge, payment, { ...payment, returned_by: id });
    return noting(charge, { suspended });
  }
  if (step !== 'suspense-reversal' || by !== id) return charge;
  const suspended = replaced(charge, payment, free);
  if (payment.returning !== undefined) return noting(charge, { suspended });
  // An operator decides again.
  const change = { suspended, detail: NOT_RETURNED, attention: NOT_RETURNED };
  return withSuspended(charge, change, now);
}

/** The proof of a return whose payment another return has taken from suspense. It stays on the charge. */
function withProofOfGone({ refund, charge }: Parts, step: HoldStep): Charge {
  const { _id: by, provider_charge_reference: reference } = refund;
  const attempt = readAttempt(reference)?.attempt;
  if (attempt === undefined || !charge.returned_attempts.includes(attempt)) return charge;
  if (step === 'suspense') return noting(charge, proving(charge, { attempt, by }));
  const { proven_returns: proven = [] } = charge;
  const isNoted = step === 'suspense-reversal' && proven.some((each) => each.by === by);
  return isNoted ? noting(charge, notProving(charge, by)) : charge;
}

const noting = (charge: Charge, set: Partial<Charge>): Charge => ({
  ...charge,
  ...set,
  version: charge.version + 1,
});

type ProvenReturns = NonNullable<Charge['proven_returns']>;

const notProving = ({ proven_returns: proven = [] }: Charge, by: string) => ({
  proven_returns: proven.filter((each) => each.by !== by),
});

const proving = (charge: Charge, proof: ProvenReturns[number]) => ({
  proven_returns: [...notProving(charge, proof.by).proven_returns, proof],
});

/** The payment is in suspense again, and an operator decides again, unless an earlier return of it is proven. */
function putBack(
  { next: refund, charge, postings }: ReturnMovement,
  now: Date,
): Pick<ReturnMovement, 'charge' | 'postings'> {
  const { _id: id, amount_minor: amountMinor } = refund;
  const attempt = readAttempt(refund.provider_charge_reference)?.attempt ?? charge.attempt;
  const { proven_returns: proven = [] } = charge;
  const by = proven.find((each) => each.attempt === attempt)?.by;
  const detail = 'the provider took the return of a payment back: it is in suspense again';
  const fee = suspenseFeeOf(charge, attempt);
  const payment = { attempt, amount_minor: amountMinor, fee_minor: fee };
  const change = {
    suspended: [...charge.suspended, by === undefined ? payment : { ...payment, returned_by: by }],
    returned_attempts: charge.returned_attempts.filter((each) => each !== attempt),
    ...(by !== undefined && notProving(charge, by)),
    detail,
    attention: by === undefined ? detail : returnedBy(by),
  };
  return {
    charge: withSuspended(charge, change, now),
    postings: [...postings, putBackPosting(charge, now, { refund: id, amountMinor })],
  };
}
