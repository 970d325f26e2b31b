import type { Posting } from '../../core/ledger/posting.js';
import { payFromAvailable, payReceivable } from '../../core/ledger/receivable.js';
import { isOpen } from '../../core/instructions/instruction.js';
import {
  applyChange,
  labelOf,
  MONITOR_MS,
  raiseAttention,
  type Verdict,
  isOutdatedRejection,
} from '../../core/instructions/transition.js';
import {
  atAttempt,
  attentionOfSuspense,
  awaitsCustomer,
  chargeFailure,
  hasPaymentInDoubt,
  isOfPage,
  leftOf,
  paidMinorOf,
  PAYMENT_MISMATCH,
  suspenseFeeOf,
  UNPROVEN_FAILURES,
  withSuspenseFee,
  type Charge,
} from './record.js';
import {
  aboutAttempt,
  alsoOut,
  ANOTHER_AMOUNT,
  ANOTHER_FEE,
  findMismatch,
  hasOddFee,
  isSettledBy,
  ODD_FEE,
  withoutSurcharge,
  type ChargeChange,
  type ChargeFact,
  type Paid,
  type Refused,
  type WalletBalances,
} from './facts.js';
import { correctionPosting, creditPosting, feePosting } from './postings.js';
import {
  accept,
  attentionAfter,
  clearAttention,
  endOther,
  findReturn,
  standBy,
  suspend,
  suspendedOf,
  watchAttempt,
} from './suspense.js';
import { DAY_MS } from '../../shared/durations.js';

/** The effect of a fact. `unchanged` and `stale` write nothing. */
export type Transition = {
  verdict: Verdict;
  next: Charge;
  postings: Posting[];
  availableMinor: bigint;
  /** Negative: the repaid part of the receivable. */
  receivableMinor: bigint;
};

/**
 * The state machine of charges: pure, and the only place where a charge ends. Money comes in, so nothing is held: a payment
 * completes a charge whenever it is proven. Another amount than requested, an odd fee, and the payment of a second attempt, are
 * booked in suspense with attention. A fact that contradicts the record moves no money and raises attention.
 */
export function transitionCharge(
  charge: Charge,
  fact: ChargeFact,
  now: Date,
  wallet: WalletBalances,
): Transition {
  const change = decideFact(charge, fact, now, wallet);
  const idle = { postings: [], availableMinor: 0n, receivableMinor: 0n };
  if (typeof change === 'string') return { verdict: change, next: charge, ...idle };
  const { set, entry, verdict = 'applied', ...effects } = change;
  const next = applyChange(charge, fact, labelOf(fact), { set, entry }, now);
  if (!isOpen(next)) next.next_action = null;
  // A report about an earlier attempt proves nothing about the present one.
  if (fact.attempt !== null && fact.attempt !== next.attempt) {
    next.acknowledged_at = charge.acknowledged_at;
  }
  return { verdict, next, ...idle, ...effects };
}

function decideFact(
  charge: Charge,
  fact: ChargeFact,
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' | 'stale' {
  switch (fact.kind) {
    case 'succeeded':
      return charge.status === 'completed'
        ? paidAgain(charge, fact, now, wallet)
        : pay(charge, fact, now, wallet);
    case 'rejected':
      return decideRefused(charge, fact, now);
    case 'cancelled':
      if (isOfOther(charge, fact)) return decideOther(charge, fact.attempt, now);
      return isOpen(charge)
        ? fail(charge, charge.cancel_requested_at ? 'cancelled' : 'abandoned')
        : 'stale';
    case 'cancel_requested':
      return requestCancel(charge, fact.endsHere, now);
    case 'page_lost':
      return openNextPage(charge, fact, now);
    case 'expired': {
      const over = charge.expires_at !== null && charge.expires_at <= now;
      // Nobody has the address of that page, and the provider may say so of an attempt that needs none: it is asked for a day more.
      const watchedFrom = awaitsCustomer(charge) && charge.next_action === null ? now : undefined;
      return isOpen(charge) && over ? fail(charge, fact.kind, watchedFrom) : 'stale';
    }
    case 'taken_back':
      return takenBack(charge, fact, now);
    case 'operator_confirmed': {
      const { amountMinor, attempt } = fact;
      if (amountMinor !== undefined) return accept(charge, { amountMinor, attempt }, now, wallet);
      return isOpen(charge) ? 'stale' : standBy(charge, now);
    }
  }
}

/**
 * Completes a charge: the amount less the provider's fee is credited. A failed charge is completed too, because the
 * payment is proven. If the provider has reported another amount of the same payment before, that one leaves suspense.
 */
function pay(
  charge: Charge,
  report: Paid,
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' | 'stale' {
  const fact = withKnownFee(charge, report);
  const isOther = fact.amountMinor !== charge.amount_minor;
  const why = isOther ? ANOTHER_AMOUNT : hasOddFee(fact) ? ODD_FEE : null;
  const mismatch = findMismatch(charge, fact) ?? (why === null ? findReturn(charge, fact) : null);
  if (mismatch !== null) {
    const attempt = fact.attempt ?? charge.attempt;
    if (isSettledBy(charge, mismatch, attempt)) return 'stale';
    return endUnsent(charge, aboutAttempt(raiseAttention(charge, now, mismatch), attempt));
  }
  if (why !== null) return endUnsent(charge, suspend(charge, fact, now, why));
  const known = suspendedOf(charge, fact);
  const suspended = charge.suspended.filter((payment) => payment !== known);
  const suspenseFee = known ? suspenseFeeOf(charge, known.attempt) : null;
  const paid: Charge = { ...charge, provider_fee_minor: fact.feeMinor };
  const netMinor = charge.amount_minor - (fact.feeMinor ?? 0n);
  const { repaidMinor, restMinor } = payReceivable(wallet, netMinor);
  const late = charge.status === 'failed' ? ', although the charge had failed' : '';
  const out = alsoOut(charge, fact);
  return {
    set: {
      status: 'completed',
      ...atAttempt(charge, fact.attempt),
      next_attempt_at: null,
      provider_fee_minor: fact.feeMinor,
      surcharge_minor: fact.surchargeMinor === 0n ? null : fact.surchargeMinor,
      failure: null,
      suspended,
      ...(known && suspenseFee !== null && withSuspenseFee(charge, known.attempt, null)),
      attention: attentionAfter({ ...charge, suspended }, out, now),
      ...watchAttempt(charge, out, now),
      completed_at: now,
    },
    entry: [
      'credited',
      `the wallet was credited, less the provider’s fee${late}${out === null ? '' : `; ${out}`}`,
    ],
    ...(out !== null && { verdict: 'attention' }),
    postings: [
      ...(known ? [correctionPosting(charge, now, known, suspenseFee ?? 0n)] : []),
      creditPosting(paid, now, repaidMinor),
    ],
    availableMinor: restMinor,
    receivableMinor: -repaidMinor,
  };
}

/** A report without a fee says nothing against the one that the same payment in suspense was reported with. */
function withKnownFee(charge: Charge, fact: Paid): Paid {
  const known = suspendedOf(charge, fact);
  const isSame = known?.amount_minor === fact.amountMinor;
  return isSame && fact.feeMinor === null ? { ...fact, feeMinor: known.fee_minor } : fact;
}

/**
 * An operator has to decide about a payment. If nothing of the charge is out, it fails, so that its customer is not charged again: it
 * completes if the operator accepts the payment. If its present attempt is out, that decides.
 */
function endUnsent(
  charge: Charge,
  change: ChargeChange | 'unchanged' | 'stale',
): ChargeChange | 'unchanged' | 'stale' {
  const isOut = charge.submissions > charge.rejected_submissions;
  if (typeof change === 'string' || change.verdict !== 'attention') return change;
  if (isOut || !isOpen(charge)) return change;
  const [type, detail] = change.entry;
  return {
    ...change,
    set: { ...fail(charge, PAYMENT_MISMATCH).set, ...change.set },
    entry: [type, `${detail}; the charge has failed: ${PAYMENT_MISMATCH}`],
  };
}

function paidAgain(
  charge: Charge,
  fact: Paid,
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' | 'stale' {
  const mismatch = findMismatch(charge, fact);
  if (mismatch !== null) return raiseAttention(charge, now, mismatch);
  if (fact.attempt !== null && fact.attempt !== charge.attempt) {
    const change = suspend(charge, fact, now, 'the provider reports that two attempts were paid');
    if (typeof change === 'string' || fact.attempt !== charge.open_attempt) return change;
    return { ...change, set: { ...change.set, open_attempt: null, monitor_until: null } };
  }
  if (fact.feeMinor !== null && fact.feeMinor < 0n) return raiseAttention(charge, now, ODD_FEE);
  const same = withoutSurcharge(charge, fact);
  if (same.amountMinor !== paidMinorOf(charge)) return raiseAttention(charge, now, ANOTHER_AMOUNT);
  return laterFee(charge, same, now, wallet);
}

/** Books a fee that the provider did not report with the payment, once. */
function laterFee(
  charge: Charge,
  { feeMinor }: Paid,
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' {
  const { provider_fee_minor: known } = charge;
  if (feeMinor === null || feeMinor === known) return 'unchanged';
  if (known !== null) return raiseAttention(charge, now, ANOTHER_FEE);
  const isOdd = feeMinor > paidMinorOf(charge);
  const set = {
    provider_fee_minor: feeMinor,
    ...(isOdd && { attention: { since: now, reason: ODD_FEE } }),
  };
  if (feeMinor === 0n) return { set, entry: ['note', 'the provider reports no fee'] };
  const { paidMinor, owedMinor } = payFromAvailable(wallet, feeMinor);
  return {
    set,
    entry: ['captured', `the provider’s fee ${feeMinor}, which it reported later`],
    ...(isOdd && { verdict: 'attention' }),
    postings: [feePosting(charge, now, { feeMinor, owedMinor })],
    availableMinor: -paidMinor,
    receivableMinor: owedMinor,
  };
}

/** True for a fact about another attempt than the present one. */
const isOfOther = <Fact extends ChargeFact>(
  { attempt }: Charge,
  fact: Fact,
): fact is Fact & { attempt: number } => fact.attempt !== null && fact.attempt !== attempt;

/** The end of another attempt proves nothing about this one. It matters only if the provider may have had both. */
const decideOther = (charge: Charge, attempt: number, now: Date): ChargeChange | 'stale' =>
  attempt === charge.open_attempt ? endOther(charge, attempt, now) : 'stale';

function decideRefused(
  charge: Charge,
  fact: Refused,
  now: Date,
): ChargeChange | 'unchanged' | 'stale' {
  if (isOfOther(charge, fact)) {
    // A customer who was declined on a page may still pay there.
    const mayBePaid = fact.via === 'webhook' || isOfPage(charge);
    return mayBePaid ? 'stale' : decideOther(charge, fact.attempt, now);
  }
  const byOperator = fact.via === 'operator';
  // A charge that has failed without a payment in suspense only has attention to lose.
  const hasFailed = charge.status === 'failed' && charge.suspended.length === 0;
  if (!hasFailed && isOutdatedRejection(charge, fact)) return 'stale';
  if (isOpen(charge)) {
    const again = fact.decline === 'soft' ? nextAttempt(charge, now) : null;
    if (again) return again;
    const mayBeOut = (byOperator || UNPROVEN_FAILURES.has(fact.code)) && charge.submissions > 0;
    const ended = fail(charge, fact.code, mayBeOut ? now : undefined);
    // A person who fails a charge has seen why it had attention; Bursar itself has not.
    const isSeen = byOperator && fact.actor !== 'bursar';
    return isSeen ? { ...ended, set: { ...ended.set, attention: null } } : ended;
  }
  if (charge.status === 'completed') {
    // A customer may be declined on the page and then pay, so a payment outranks every decline, in any order of
    // arrival.
    if (fact.via === 'webhook' || fact.via === 'note' || isOfPage(charge)) return 'stale';
    return raiseAttention(charge, now, 'the provider rejects what it had reported as paid');
  }
  if (byOperator) return clearAttention(charge, 'an operator failed it');
  if (charge.monitor_until === null) return 'unchanged';
  return {
    set: { monitor_until: null },
    entry: ['note', 'the provider confirms that it was not paid'],
  };
}

/**
 * Schedules a new attempt after a soft decline. The attempt has a reference of its own. After an outage the spacing of the
 * attempts counts from the late one: networks fine attempts that are made up for at once.
 */
function nextAttempt(charge: Charge, now: Date): ChargeChange | null {
  // While an operator decides about a payment, its customer is not charged again.
  if (isOfPage(charge) || hasPaymentInDoubt(charge)) return null;
  const days = charge.dunning_days[charge.attempt - 1];
  if (days === undefined) return null;
  const first = charge.first_declined_at ?? now;
  const spacing = days - (charge.dunning_days[charge.attempt - 2] ?? 0);
  const planned = first.getTime() + days * DAY_MS;
  const at = new Date(Math.max(planned, now.getTime() + spacing * DAY_MS));
  return {
    set: {
      ...nextAttemptOf(charge),
      // The customer has acted, and declined.
      next_action: null,
      expires_at: null,
      first_declined_at: first,
      last_decline: null,
      next_attempt_at: at,
      attention: attentionOfSuspense(charge),
      next_check_at: at,
    },
    entry: [
      'note',
      `declined for now; attempt ${charge.attempt + 1} is due at ${at.toISOString()}`,
    ],
  };
}

/** The fields of a new attempt, which has a reference of its own, nothing submitted, and counters of its own. */
const nextAttemptOf = (charge: Charge) => ({
  status: 'pending' as const,
  attempt: charge.attempt + 1,
  handle: null,
  submissions: 0,
  rejected_submissions: 0,
  first_submitted_at: null,
  acknowledged_at: null,
  polls: 0,
  void_handles: 0,
});

/**
 * Opens another page under a reference of its own. The lost one reached nobody, but both are verified until the charge
 * ends.
 */
function openNextPage(charge: Charge, fact: ChargeFact, now: Date): ChargeChange | 'stale' {
  const isPresent = fact.attempt === charge.attempt && charge.submissions > 0;
  if (!isOpen(charge) || !isOfPage(charge) || !isPresent || charge.next_action) return 'stale';
  if (hasPaymentInDoubt(charge)) return fail(charge, PAYMENT_MISMATCH);
  return {
    set: { ...nextAttemptOf(charge), next_attempt_at: null, next_check_at: now },
    entry: [
      'note',
      `the address of page ${charge.attempt} was lost; page ${charge.attempt + 1} is opened`,
    ],
  };
}

/** Cancels a charge that nobody has submitted, or asks its provider to. */
function requestCancel(
  charge: Charge,
  endsHere: boolean,
  now: Date,
): ChargeChange | 'unchanged' | 'stale' {
  if (!isOpen(charge)) return 'stale';
  const requested = { cancel_requested_at: charge.cancel_requested_at ?? now };
  const unsubmitted = charge.submissions === charge.rejected_submissions;
  if (unsubmitted || (endsHere && awaitsCustomer(charge))) {
    const ended = fail(charge, 'cancelled', unsubmitted ? undefined : now);
    return { ...ended, set: { ...ended.set, ...requested } };
  }
  if (charge.cancel_requested_at !== null) return 'unchanged';
  // A declined charge is not tried again.
  return {
    set: { ...requested, dunning_days: [] },
    entry: ['note', 'its tenant has asked to cancel it'],
  };
}

/** Fails a charge. Nothing was credited, so nothing is returned. `watchedFrom`: late payments are monitored from then on. */
function fail(charge: Charge, code: string, watchedFrom?: Date): ChargeChange {
  return {
    set: {
      status: 'failed',
      failure: chargeFailure(code),
      next_attempt_at: null,
      attention: attentionOfSuspense(charge),
      monitor_until: watchedFrom ? new Date(watchedFrom.getTime() + MONITOR_MS) : null,
    },
    entry: ['note', `the charge has failed: ${code}`],
  };
}

const NOT_EXPLAINED =
  'the provider reports that the payment was taken back, and the known refunds and disputes do not explain it';

/** Calls an operator, once, if the provider has taken back more of a completed charge than is booked. */
function takenBack(charge: Charge, fact: ChargeFact, now: Date): ChargeChange | 'unchanged' {
  const { status, attempt, timeline } = charge;
  if (status !== 'completed' || fact.attempt !== attempt || leftOf(charge) === 0n)
    return 'unchanged';
  const isCalled = timeline.some(({ detail }) => detail === NOT_EXPLAINED);
  return isCalled ? 'unchanged' : raiseAttention(charge, now, NOT_EXPLAINED);
}
