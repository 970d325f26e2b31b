import { MONITOR_MS, raiseAttention } from '../../core/instructions/transition.js';
import { payFromAvailable, payReceivable } from '../../core/ledger/receivable.js';
import {
  alsoOut,
  alsoOutReason,
  ANOTHER_FEE,
  aboutAttempt,
  isSettledBy,
  type ChargeChange,
  type Paid,
  type WalletBalances,
} from './facts.js';
import { acceptPosting, suspenseFeePosting, suspensePosting } from './postings.js';
import {
  atAttempt,
  attentionOfSuspense,
  isUndecided,
  RETURNED_PAYMENT,
  SUSPENDED_DIFFERS,
  suspenseFeeOf,
  waitsForOperator,
  withSuspenseFee,
  type Charge,
  type SuspendedPayment,
} from './record.js';

/** The payment of the attempt that is in suspense; undefined if none is. */
export const suspendedOf = (
  { suspended, attempt: present }: Charge,
  { attempt }: Pick<Paid, 'attempt'>,
): SuspendedPayment | undefined =>
  suspended.find((payment) => payment.attempt === (attempt ?? present));

/** True if the whole payment of the attempt was returned from suspense. */
export const wasReturned = (
  { returned_attempts: returned, attempt: present }: Charge,
  { attempt }: Pick<Paid, 'attempt'>,
): boolean => returned.includes(attempt ?? present);

/**
 * The reason why a payment of the requested amount cannot be booked: another amount was booked for its attempt, and a part of
 * that is with the customer again, or on its way. Null if there is none.
 */
export function findReturn(charge: Charge, fact: Paid): string | null {
  const payment = suspendedOf(charge, fact);
  const isBack = payment
    ? !isUndecided(payment) || charge.returned_refunds.length > 0
    : wasReturned(charge, fact);
  return isBack ? RETURNED_PAYMENT : null;
}

/** The attention of a charge that completes. `reason`: the reason to call an operator from now on, or null. */
export const attentionAfter = (
  charge: Pick<Charge, 'suspended' | 'attention'>,
  reason: string | null,
  now: Date,
): Charge['attention'] => (reason === null ? attentionOfSuspense(charge) : { since: now, reason });

/** The present attempt is asked about for a day if an earlier one was paid. `out`: the reason why it may have been paid too, or null. */
export const watchAttempt = (
  { attempt }: Pick<Charge, 'attempt'>,
  out: string | null,
  now: Date,
): Pick<Charge, 'open_attempt' | 'monitor_until'> => ({
  open_attempt: out === null ? null : attempt,
  monitor_until: out === null ? null : new Date(now.getTime() + MONITOR_MS),
});

/** The later attempt of a charge that an earlier one has paid has ended without a payment. */
export function endOther(charge: Charge, attempt: number, now: Date): ChargeChange {
  const { attention, suspended } = charge;
  const set = { open_attempt: null, monitor_until: null };
  const why = `attempt ${attempt} was not paid`;
  if (attention?.reason !== alsoOutReason({ ...charge, attempt })) {
    return { set, entry: ['note', why] };
  }
  const left = suspended.some(waitsForOperator) ? { since: now, reason: STILL_IN_SUSPENSE } : null;
  return { set: { ...set, attention: left }, entry: ['attention_cleared', why] };
}

const STILL_IN_SUSPENSE = 'a payment is still in suspense: accept it or return it';

/** An operator ends the attention of a charge. */
export const clearAttention = (
  { attention }: Pick<Charge, 'attention'>,
  why: string,
): ChargeChange | 'unchanged' =>
  attention === null
    ? 'unchanged'
    : { set: { attention: null }, entry: ['attention_cleared', why] };

/**
 * An operator stands by a charge that has ended, and so ends its attention. The word is about the charge: if one of its payments
 * waits in suspense, whose call another reason may have replaced, the operator is called for that, once more.
 */
export function standBy(charge: Charge, now: Date): ChargeChange | 'unchanged' {
  const { attention, suspended } = charge;
  const why = 'an operator stands by it';
  const isWaiting = suspended.some(waitsForOperator) && attention !== null;
  if (!isWaiting || attention.reason === STILL_IN_SUSPENSE) {
    const cleared = clearAttention(charge, why);
    // The operator has looked up the later attempt.
    return typeof cleared === 'string' || charge.open_attempt == null
      ? cleared
      : { ...cleared, set: { ...cleared.set, open_attempt: null, monitor_until: null } };
  }
  return {
    set: { attention: { since: now, reason: STILL_IN_SUSPENSE } },
    entry: ['attention_cleared', `${why}; ${STILL_IN_SUSPENSE}`],
  };
}

/** Books a payment in suspense, once for each attempt. An operator accepts it, or it is refunded at the provider. */
export function suspend(
  charge: Charge,
  report: Paid,
  now: Date,
  reason: string,
): ChargeChange | 'unchanged' | 'stale' {
  // No provider pays a fee: what it keeps is not known yet.
  const isBelowZero = report.feeMinor !== null && report.feeMinor < 0n;
  const fact = isBelowZero ? { ...report, feeMinor: null } : report;
  const known = suspendedOf(charge, fact);
  if (known) return repeatSuspended(charge, { fact, known }, now);
  const payment: SuspendedPayment = {
    attempt: fact.attempt ?? charge.attempt,
    amount_minor: fact.amountMinor,
    fee_minor: fact.feeMinor,
  };
  if (wasReturned(charge, payment)) return feeOfReturned(charge, payment, now);
  if (payment.amount_minor === 0n) return raiseAttention(charge, now, reason);
  return {
    set: {
      suspended: [...charge.suspended, payment],
      ...(payment.fee_minor !== null &&
        withSuspenseFee(charge, payment.attempt, payment.fee_minor)),
      attention: { since: now, reason },
    },
    entry: ['suspense', `${payment.amount_minor} of attempt ${payment.attempt} is in suspense`],
    verdict: 'attention',
    postings: [suspensePosting(charge, now, payment, payment.fee_minor ?? 0n)],
  };
}

/** The provider keeps its fee of a payment that was returned from suspense, also if it tells the fee later. */
function feeOfReturned(
  charge: Charge,
  { attempt, fee_minor: feeMinor }: SuspendedPayment,
  now: Date,
): ChargeChange | 'unchanged' {
  if (feeMinor === null || suspenseFeeOf(charge, attempt) !== null) return 'unchanged';
  return {
    ...bookLater(charge, { attempt, feeMinor }, now),
    entry: ['note', `the provider’s fee ${feeMinor} of attempt ${attempt}, which was returned`],
  };
}

/** The booking of a fee that is told after its payment is in suspense. */
const bookLater = (charge: Charge, fee: { attempt: number; feeMinor: bigint }, now: Date) => ({
  set: withSuspenseFee(charge, fee.attempt, fee.feeMinor),
  postings: fee.feeMinor === 0n ? [] : [suspenseFeePosting(charge, now, fee)],
});

/** A payment in suspense that is reported again: its fee may have become known, and its amount may not change. */
function repeatSuspended(
  charge: Charge,
  { fact: { amountMinor, feeMinor }, known }: { fact: Paid; known: SuspendedPayment },
  now: Date,
): ChargeChange | 'unchanged' | 'stale' {
  // A refund at the provider may have taken a part from suspense.
  const isOther = amountMinor !== known.amount_minor && charge.returned_refunds.length === 0;
  const isOtherFee = known.fee_minor !== null && feeMinor !== null && feeMinor !== known.fee_minor;
  if (isOther || isOtherFee) {
    const reason = isOther ? SUSPENDED_DIFFERS : ANOTHER_FEE;
    const { attempt } = known;
    if (isSettledBy(charge, reason, attempt)) return 'stale';
    return aboutAttempt(raiseAttention(charge, now, reason), attempt);
  }
  if (feeMinor === null || known.fee_minor !== null) return 'unchanged';
  const named = { ...known, fee_minor: feeMinor };
  const { set, postings } = bookLater(charge, { attempt: known.attempt, feeMinor }, now);
  return {
    set: { ...set, suspended: charge.suspended.map((each) => (each === known ? named : each)) },
    postings,
    entry: ['note', `the provider’s fee ${feeMinor} of attempt ${known.attempt}, in suspense`],
  };
}

/**
 * Completes a charge with an amount in suspense, which an operator has accepted in place of the requested one. `attempt`: the one that
 * was paid; null: the first with this amount.
 */
export function accept(
  charge: Charge,
  { amountMinor, attempt: of }: { amountMinor: bigint; attempt: number | null },
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' | 'stale' {
  const payment = charge.suspended.find(
    (each) =>
      each.amount_minor === amountMinor &&
      (of === null || each.attempt === of) &&
      isUndecided(each),
  );
  if (!payment || charge.status === 'completed') return 'stale';
  const { attempt, fee_minor: feeMinor } = payment;
  const settled = amountMinor === charge.amount_minor ? null : amountMinor;
  const suspended = charge.suspended.filter((other) => other !== payment);
  const out = alsoOut(charge, payment);
  const paid = { ...charge, settled_amount_minor: settled, provider_fee_minor: feeMinor };
  const { repaidMinor, restMinor } = payNet(wallet, amountMinor - (feeMinor ?? 0n));
  const suspenseFeeMinor = suspenseFeeOf(charge, attempt);
  return {
    set: {
      status: 'completed',
      ...atAttempt(charge, attempt),
      next_attempt_at: null,
      provider_fee_minor: feeMinor,
      settled_amount_minor: settled,
      suspended,
      ...(suspenseFeeMinor !== null && withSuspenseFee(charge, attempt, null)),
      failure: null,
      attention: attentionAfter({ ...charge, suspended }, out, now),
      ...watchAttempt(charge, out, now),
      completed_at: now,
    },
    entry: [
      'credited',
      `an operator accepted ${amountMinor}, which was in suspense${out === null ? '' : `; ${out}`}`,
    ],
    ...(out !== null && { verdict: 'attention' }),
    postings: [acceptPosting(paid, now, { repaidMinor, suspenseFeeMinor: suspenseFeeMinor ?? 0n })],
    availableMinor: restMinor,
    receivableMinor: -repaidMinor,
  };
}

/** Divides what a payment leaves after its fee. A fee above the amount is paid by the wallet, and the rest of it is owed. */
function payNet(wallet: WalletBalances, netMinor: bigint) {
  if (netMinor >= 0n) return payReceivable(wallet, netMinor);
  const { paidMinor, owedMinor } = payFromAvailable(wallet, -netMinor);
  return { repaidMinor: -owedMinor, restMinor: -paidMinor };
}
