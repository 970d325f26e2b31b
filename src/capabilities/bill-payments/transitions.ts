import type { InstructionFact } from '../../core/instructions/fact.js';
import type {
  TransitionResult,
  TransitionRules,
} from '../../core/instructions/held-instruction.js';
import { transitionHeld } from '../../core/instructions/held-transitions.js';
import {
  isCovered,
  movePayment,
  type PaymentTransition,
} from '../../core/outgoing-payments/outgoing-payment.js';
import { timelineEntry } from '../../core/instructions/instruction.js';
import { applyChange } from '../../core/instructions/transition.js';
import type { WalletBalances } from '../../core/ledger/posting.js';
import { billFailure, type BillPayment, type StoredReceipt } from './record.js';
import { billPaymentContract } from './workflow-contract.js';

/** A fact about a bill payment. `receipt` comes with `succeeded` alone. */
export type BillPaymentFact = InstructionFact & { receipt?: StoredReceipt | null };

/** The effect of a fact on a bill payment. */
export type BillPaymentTransition = PaymentTransition<BillPayment>;

type Result = Readonly<TransitionResult<BillPayment>>;

/** The reason of attention of a completed payment of a prepaid meter whose token is not known. */
export const WITHOUT_TOKEN = 'the biller was paid and gave no token';

/**
 * The state machine of bill payments. core/instructions/held-transitions.ts decides the transition; this function adds the
 * receipt, and turns its ledger effects into postings and balance changes.
 */
export function transitionBillPayment(
  payment: BillPayment,
  fact: BillPaymentFact,
  now: Date,
  wallet: WalletBalances,
): BillPaymentTransition {
  const decided = transitionHeld(payment, fact, now, transitionRules(payment, fact, wallet));
  const result = withoutToken(payment, withReceipt(payment, fact, decided, now), now);
  return movePayment(payment, result, now, wallet);
}

const transitionRules = (
  payment: BillPayment,
  fact: BillPaymentFact,
  wallet: WalletBalances,
): TransitionRules<BillPayment> => ({
  labels: billPaymentContract.labels,
  requestedMinor: payment.amount_minor,
  acceptsOtherAmount: true,
  correctable: true,
  covered: isCovered(payment, fact, wallet),
  failure: billFailure,
  timelineDetails: {
    captured: 'the hold was captured, the fee was booked',
    reversed: 'amount and fee were credited back to the wallet',
  },
});

/**
 * Adds what the biller's receipt has and the known one lacks: a token may come after its units. It is kept also while no money
 * moves for it: clients see it once the wallet has paid.
 */
function withReceipt(
  payment: BillPayment,
  fact: BillPaymentFact,
  result: Result,
  now: Date,
): Result {
  const told = fact.kind === 'succeeded' ? (fact.receipt ?? null) : null;
  const known = payment.receipt;
  if (told === null || (known && addsNothing(known, told))) return result;
  const receipt: StoredReceipt = {
    sealed_token: known?.sealed_token ?? told.sealed_token,
    units: known?.units ?? told.units,
  };
  if (result.next !== payment) return { ...result, next: { ...result.next, receipt } };
  const isMissed = payment.attention?.reason === WITHOUT_TOKEN && receipt.sealed_token !== null;
  const set = { receipt, ...(isMissed && { attention: null }) };
  const entry = ['note', known ? 'the receipt was completed' : 'the receipt was added'] as const;
  const next = applyChange(payment, fact, fact.kind, { set, entry: [...entry] }, now);
  return { ...result, verdict: 'applied', next };
}

const addsNothing = (known: StoredReceipt, told: StoredReceipt): boolean =>
  (known.sealed_token !== null || told.sealed_token === null) &&
  (known.units !== null || told.units === null);

/** Calls an operator if a completed payment has no token, although its item gives one. */
function withoutToken(payment: BillPayment, result: Result, now: Date): Result {
  const { next } = result;
  // The end of another call, which had taken the place of this one, is a new occasion.
  const { status, attention } = payment;
  const hasEnded = attention !== null && attention.reason !== WITHOUT_TOKEN;
  const isNew = next.status === 'completed' && (status !== 'completed' || hasEnded);
  if (!isNew || !next.gives_token || (next.receipt?.sealed_token ?? null) !== null) return result;
  if (next.attention !== null) return result;
  const detail = WITHOUT_TOKEN;
  return {
    ...result,
    next: {
      ...next,
      attention: { since: now, reason: detail },
      next_check_at: next.next_check_at ?? now,
      timeline: [...next.timeline, timelineEntry(now, 'attention_raised', 'bursar', { detail })],
    },
  };
}
