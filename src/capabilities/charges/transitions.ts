import type { Posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import type { SavedMethod } from '../../core/providers/payment-provider.js';
import type { FactSource } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import {
  applyChange,
  labelOf,
  MONITOR_MS,
  raiseAttention,
  type Change,
  type Verdict,
} from '../../core/instructions/transition.js';
import {
  attemptReference,
  chargeFailure,
  isOfPage,
  paidMinorOf,
  type Charge,
  type SuspendedPayment,
} from './charge.js';
import { acceptPosting, creditPosting, feePosting, suspensePosting } from './postings.js';
import { DAY_MS } from '../../shared/durations.js';

/**
 * A fact about a charge, from any source. `attempt` is the attempt that the fact is about; null means the present one.
 */
export type ChargeFact = FactSource & { attempt: number | null } & (
    | {
        kind: 'succeeded';
        amountMinor: bigint;
        currency: string;
        /** The provider's own surcharge on top of the amount. */
        surchargeMinor: bigint;
        feeMinor: bigint | null;
        /** A secret: it is stored with the token, and nowhere else. */
        method: SavedMethod | null;
      }
    /** `ifNotSubmitted`: an operator's command that applies only if nothing was submitted. */
    | { kind: 'rejected'; code: string; decline: 'soft' | 'hard'; ifNotSubmitted?: boolean }
    /** It can never be paid: its customer has cancelled it, or its tenant. */
    | { kind: 'cancelled' }
    /**
     * Its tenant cancels it. `endsHere`: its provider can't cancel, so a charge that waits for its customer ends here, and a
     * later payment completes it all the same.
     */
    | { kind: 'cancel_requested'; endsHere: boolean }
    /** The address of this page was lost, so nobody can have seen it: another page is opened. */
    | { kind: 'page_lost' }
    /** The customer's time is over, and the provider has just said that nothing was paid. */
    | { kind: 'expired' }
    /** `amountMinor`: the operator accepts this amount, which is in suspense, in place of the requested one. */
    | { kind: 'operator_confirmed'; amountMinor?: bigint }
  );

type Paid = Extract<ChargeFact, { kind: 'succeeded' }>;
type Refused = Extract<ChargeFact, { kind: 'rejected' }>;

/** The balances that a charge's facts change. */
export type WalletBalances = Pick<Wallet, 'availableMinor' | 'receivableMinor'>;

/** The effect of a fact. `unchanged` and `stale` write nothing. */
export type Transition = {
  verdict: Verdict;
  next: Charge;
  postings: Posting[];
  availableMinor: bigint;
  /** Negative: the repaid part of the receivable. */
  receivableMinor: bigint;
};

type ChargeChange = Change<Charge> & {
  postings?: Posting[];
  availableMinor?: bigint;
  receivableMinor?: bigint;
};

/**
 * The state machine of charges: pure, and the only place where a charge ends. Money comes in, so nothing is held: a payment
 * completes a charge whenever it is proven. Another amount than requested, and the payment of a second attempt, are booked in
 * suspense with attention. A fact that contradicts the record moves no money and raises attention.
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
      if (fact.attempt !== null && fact.attempt !== charge.attempt) return 'stale';
      return isOpen(charge)
        ? fail(charge.cancel_requested_at ? 'cancelled' : 'abandoned')
        : 'stale';
    case 'cancel_requested':
      return requestCancel(charge, fact.endsHere, now);
    case 'page_lost':
      return openNextPage(charge, fact, now);
    case 'expired': {
      const over = charge.expires_at !== null && charge.expires_at <= now;
      return isOpen(charge) && over ? fail(fact.kind) : 'stale';
    }
    case 'operator_confirmed':
      if (fact.amountMinor !== undefined) return accept(charge, fact.amountMinor, now, wallet);
      return isOpen(charge) ? 'stale' : clearAttention(charge, 'an operator stands by it');
  }
}

/**
 * Completes a charge: the amount less the provider's fee is credited. A failed charge is completed too, because the
 * payment is proven.
 */
function pay(
  charge: Charge,
  fact: Paid,
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' | 'stale' {
  const mismatch = findMismatch(charge, fact);
  if (mismatch !== null) {
    return isSettledBy(charge, mismatch) ? 'stale' : raiseAttention(charge, now, mismatch);
  }
  if (fact.amountMinor !== charge.amount_minor) {
    return suspend(charge, fact, now, ANOTHER_AMOUNT);
  }
  const paid: Charge = { ...charge, provider_fee_minor: fact.feeMinor };
  const netMinor = charge.amount_minor - (fact.feeMinor ?? 0n);
  const { repaidMinor, restMinor } = payReceivable(wallet, netMinor);
  const late = charge.status === 'failed' ? ', although the charge had failed' : '';
  const out = alsoOut(charge, fact);
  return {
    set: {
      status: 'completed',
      attempt: fact.attempt ?? charge.attempt,
      next_attempt_at: null,
      provider_fee_minor: fact.feeMinor,
      surcharge_minor: fact.surchargeMinor === 0n ? null : fact.surchargeMinor,
      failure: null,
      attention: out === null ? null : { since: now, reason: out },
      monitor_until: null,
      completed_at: now,
    },
    entry: [
      'credited',
      `the wallet was credited, less the provider’s fee${late}${out === null ? '' : `; ${out}`}`,
    ],
    ...(out !== null && { verdict: 'attention' }),
    postings: [creditPosting(paid, now, repaidMinor)],
    availableMinor: restMinor,
    receivableMinor: -repaidMinor,
  };
}

/** The reason for attention if an earlier attempt was paid and the present one may have been paid too; else null. */
function alsoOut(charge: Charge, { attempt: paid }: Paid): string | null {
  const {
    status,
    attempt,
    submissions: sends,
    rejected_submissions: notTaken,
    failure,
    monitor_until: watched,
  } = charge;
  if (paid === null || paid === attempt || sends === notTaken) return null;
  // A failure that the provider reported is proven; one that an operator forced is not.
  const known = status === 'failed' && watched === null && failure?.code !== 'operator';
  return known
    ? null
    : `another attempt was paid; look up ${attemptReference(charge)} at the provider too`;
}

/** True if an operator failed the charge after attention for this reason. */
const isSettledBy = ({ failure, timeline }: Charge, reason: string): boolean =>
  failure?.code === 'operator' &&
  timeline.some(({ type, detail }) => type === 'attention_raised' && detail === reason);

function findMismatch(charge: Charge, { amountMinor, currency, feeMinor }: Paid): string | null {
  if (currency !== charge.currency)
    return 'the provider reports another currency than was requested';
  if (feeMinor !== null && (feeMinor < 0n || feeMinor > amountMinor)) {
    return 'the provider reports a fee that is not between zero and the amount';
  }
  return null;
}

const ANOTHER_AMOUNT = 'the provider reports another amount than was requested';

/** Books a payment in suspense, once for each attempt. An operator accepts it, or it is refunded at the provider. */
function suspend(
  charge: Charge,
  fact: Paid,
  now: Date,
  reason: string,
): ChargeChange | 'unchanged' {
  const payment: SuspendedPayment = {
    attempt: fact.attempt ?? charge.attempt,
    amount_minor: fact.amountMinor,
    fee_minor: fact.feeMinor,
  };
  if (wasSuspended(charge, payment.attempt)) return 'unchanged';
  if (payment.amount_minor === 0n) return raiseAttention(charge, now, reason);
  return {
    set: {
      suspended: [...charge.suspended, payment],
      attention: { since: now, reason },
    },
    entry: ['suspense', `${payment.amount_minor} of attempt ${payment.attempt} is in suspense`],
    verdict: 'attention',
    postings: [suspensePosting(charge, now, payment)],
  };
}

/** True if the payment of this attempt is in suspense, or was returned from it. */
const wasSuspended = (
  { suspended, returned_attempts: returned }: Charge,
  attempt: number,
): boolean =>
  returned.includes(attempt) || suspended.some((payment) => payment.attempt === attempt);

/** Completes a charge with an amount in suspense, which an operator has accepted in place of the requested one. */
function accept(
  charge: Charge,
  amountMinor: bigint,
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' | 'stale' {
  const payment = charge.suspended.find(({ amount_minor: minor }) => minor === amountMinor);
  if (!payment || charge.status === 'completed') return 'stale';
  const { attempt, fee_minor: feeMinor } = payment;
  const settled = amountMinor === charge.amount_minor ? null : amountMinor;
  const suspended = charge.suspended.filter((other) => other !== payment);
  const paid = { ...charge, settled_amount_minor: settled, provider_fee_minor: feeMinor };
  const { repaidMinor, restMinor } = payReceivable(wallet, amountMinor - (feeMinor ?? 0n));
  return {
    set: {
      status: 'completed',
      attempt,
      next_attempt_at: null,
      provider_fee_minor: feeMinor,
      settled_amount_minor: settled,
      suspended,
      failure: null,
      attention: suspended.length === 0 ? null : charge.attention,
      monitor_until: null,
      completed_at: now,
    },
    entry: ['credited', `an operator accepted ${amountMinor}, which was in suspense`],
    postings: [acceptPosting(paid, now, repaidMinor)],
    availableMinor: restMinor,
    receivableMinor: -repaidMinor,
  };
}

function paidAgain(
  charge: Charge,
  fact: Paid,
  now: Date,
  wallet: WalletBalances,
): ChargeChange | 'unchanged' {
  const mismatch = findMismatch(charge, fact);
  if (mismatch !== null) return raiseAttention(charge, now, mismatch);
  if (fact.attempt !== null && fact.attempt !== charge.attempt) {
    return suspend(charge, fact, now, 'the provider reports that two attempts were paid');
  }
  if (fact.amountMinor !== paidMinorOf(charge)) return raiseAttention(charge, now, ANOTHER_AMOUNT);
  return laterFee(charge, fact, now, wallet);
}

/** Books a fee that the provider did not report with the payment, once. */
function laterFee(
  charge: Charge,
  { feeMinor }: Paid,
  now: Date,
  { availableMinor }: WalletBalances,
): ChargeChange | 'unchanged' {
  const { provider_fee_minor: known } = charge;
  if (feeMinor === null || feeMinor === known) return 'unchanged';
  if (known !== null) {
    return raiseAttention(charge, now, 'the provider reports another fee than before');
  }
  const set = { provider_fee_minor: feeMinor };
  if (feeMinor === 0n) return { set, entry: ['note', 'the provider reports no fee'] };
  const paysMinor = availableMinor < feeMinor ? availableMinor : feeMinor;
  const owedMinor = feeMinor - paysMinor;
  return {
    set,
    entry: ['captured', `the provider’s fee ${feeMinor}, which it reported later`],
    postings: [feePosting(charge, now, { feeMinor, owedMinor })],
    availableMinor: -paysMinor,
    receivableMinor: owedMinor,
  };
}

function decideRefused(
  charge: Charge,
  fact: Refused,
  now: Date,
): ChargeChange | 'unchanged' | 'stale' {
  // The outcome of an earlier attempt proves nothing about this one.
  if (fact.attempt !== null && fact.attempt !== charge.attempt) return 'stale';
  const byOperator = fact.via === 'operator';
  if (fact.ifNotSubmitted && charge.submissions > 0) return 'stale';
  if (isOpen(charge)) {
    const again = fact.decline === 'soft' ? nextAttempt(charge, now) : null;
    return again ?? fail(fact.code, byOperator && charge.submissions > 0 ? now : undefined);
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
  if (isOfPage(charge)) return null;
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
      next_attempt_at: at,
      attention: null,
      next_check_at: at,
    },
    entry: [
      'note',
      `declined for now; attempt ${charge.attempt + 1} is due at ${at.toISOString()}`,
    ],
  };
}

/** The fields of a new attempt, which has a reference of its own and nothing submitted. */
const nextAttemptOf = (charge: Charge) => ({
  status: 'pending' as const,
  attempt: charge.attempt + 1,
  handle: null,
  submissions: 0,
  rejected_submissions: 0,
  first_submitted_at: null,
  acknowledged_at: null,
});

/**
 * Opens another page under a reference of its own. The lost one reached nobody, but both are verified until the charge
 * ends.
 */
function openNextPage(charge: Charge, fact: ChargeFact, now: Date): ChargeChange | 'stale' {
  const isPresent = fact.attempt === charge.attempt && charge.submissions > 0;
  if (!isOpen(charge) || !isOfPage(charge) || !isPresent || charge.next_action) return 'stale';
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
  if (unsubmitted || (endsHere && charge.next_action !== null)) {
    const ended = fail('cancelled', unsubmitted ? undefined : now);
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
function fail(code: string, watchedFrom?: Date): ChargeChange {
  return {
    set: {
      status: 'failed',
      failure: chargeFailure(code),
      next_attempt_at: null,
      attention: null,
      monitor_until: watchedFrom ? new Date(watchedFrom.getTime() + MONITOR_MS) : null,
    },
    entry: ['note', `the charge has failed: ${code}`],
  };
}

function clearAttention(charge: Charge, why: string): ChargeChange | 'unchanged' {
  if (charge.attention === null) return 'unchanged';
  return { set: { attention: null }, entry: ['attention_cleared', why] };
}
