import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import {
  applyChange,
  labelOf,
  monitoredUntil,
  raiseAttention,
  rejectionAfterEnd,
  type Change,
  type Verdict,
} from '../../core/instructions/transition.js';
import type { UnloadState } from '../../core/providers/card-issuer.js';
import type { FactSource } from '../../core/instructions/fact.js';
import {
  bookedMinor,
  operationFailure,
  PART_REVERSAL,
  type CardOperation,
  type Funding,
} from '../cards/card-operation.js';

const OTHER_AMOUNT = 'the issuer reports another amount than before';
const OTHER_REVERSAL = 'the issuer reversed another amount than it gave back';
const REJECTS_GIVEN = 'the issuer rejects what it had reported as given back';

/** The reasons of attention for reports that contradict what is booked. */
export const CONTRADICTED: readonly string[] = [OTHER_AMOUNT, OTHER_REVERSAL, REJECTS_GIVEN];

/** The reason of attention for money in suspense. No further unloading moves it. */
export const SURPLUS = 'the issuer gave back more than the card has: the surplus is in suspense';

/** A movement of a card's balance: the changes of each amount (negative: it decreases). They and the surplus balance. */
export type UnloadMovement = {
  step: 'resolve' | 'late' | 'reversal' | `${typeof PART_REVERSAL}${bigint}`;
  /** Of the amount that unloadings hold on the card. */
  heldMinor: bigint;
  /** Of the card's balance. */
  cardMinor: bigint;
  /** Of the wallet: what the issuer gave back, or took again. */
  walletMinor: bigint;
};

/** The effect of a fact. `unchanged` and `stale` write nothing. */
export type UnloadTransition = {
  verdict: Verdict;
  next: CardOperation;
  movement: UnloadMovement | null;
};

type UnloadChange = Change<CardOperation> & { movement?: UnloadMovement };

/**
 * The state machine of an unloading. Its amount is held on the card from the start. The wallet is credited only on the
 * issuer's proof; what the issuer does not give back is on the card again, and an operator is called.
 */
export function transitionCardUnload(
  operation: CardOperation,
  fact: InstructionFact,
  now: Date,
  cardMinor: bigint,
): UnloadTransition {
  const change = changeFor(operation as Funding, fact, now, cardMinor);
  if (typeof change === 'string') return { verdict: change, next: operation, movement: null };
  const next = applyChange(operation, fact, labelOf(fact), change, now);
  return { verdict: change.verdict ?? 'applied', next, movement: change.movement ?? null };
}

function changeFor(
  operation: Funding,
  fact: InstructionFact,
  now: Date,
  cardMinor: bigint,
): UnloadChange | 'unchanged' | 'stale' {
  switch (fact.kind) {
    case 'succeeded':
      return succeed(operation, fact.amountMinor ?? operation.amount_minor, now, cardMinor);
    case 'rejected':
      return reject(operation, fact, now);
    case 'reversed':
      return reverse(operation, fact, now);
    case 'operator_confirmed':
      return confirm(operation);
  }
}

function succeed(
  operation: Funding,
  givenMinor: bigint,
  now: Date,
  cardMinor: bigint,
): UnloadChange | 'unchanged' | 'stale' {
  const { amount_minor: askedMinor, status } = operation;
  if (operation.reversed_at !== null) return 'stale';
  if (status === 'completed') {
    // A reversal outranks the report of what was given back before.
    return givenMinor === bookedMinor(operation) || givenMinor === everGivenMinor(operation)
      ? 'unchanged'
      : contradict(operation, givenMinor, now, OTHER_AMOUNT);
  }
  if (givenMinor > askedMinor || givenMinor <= 0n) {
    return raiseAttention(operation, now, 'the issuer reports another amount than was requested');
  }
  const restMinor = askedMinor - givenMinor;
  const completed = {
    status: 'completed',
    completed_at: now,
    failure: null,
    monitor_until: null,
    settled_amount_minor: restMinor === 0n ? null : givenMinor,
  } as const;
  if (!isOpen(operation)) return succeedLate(completed, givenMinor, now, cardMinor);
  const reason = `the issuer gave back ${givenMinor} of ${askedMinor}: the rest is on the card`;
  const attention = restMinor === 0n ? null : { since: now, reason };
  return {
    set: { ...completed, attention },
    entry: ['captured', attention?.reason ?? 'the balance was returned to the wallet'],
    movement: {
      step: 'resolve',
      heldMinor: -askedMinor,
      cardMinor: restMinor,
      walletMinor: givenMinor,
    },
  };
}

/** Proven after it had failed here: the balance is on the card again, or another unloading has taken it since. */
function succeedLate(
  completed: Partial<CardOperation>,
  givenMinor: bigint,
  now: Date,
  cardMinor: bigint,
): UnloadChange {
  const takenMinor = givenMinor < cardMinor ? givenMinor : cardMinor;
  return {
    set: {
      ...completed,
      attention: takenMinor < givenMinor ? { since: now, reason: SURPLUS } : null,
    },
    entry: ['captured', 'proven late: the balance was returned to the wallet'],
    movement: { step: 'late', heldMinor: 0n, cardMinor: -takenMinor, walletMinor: takenMinor },
  };
}

function reject(
  operation: Funding,
  fact: Extract<InstructionFact, { kind: 'rejected' }>,
  now: Date,
): UnloadChange | 'unchanged' | 'stale' {
  const late = rejectionAfterEnd(operation, fact, now, {
    contradiction: REJECTS_GIVEN,
    nothing: 'the issuer confirms that it gave nothing back',
  });
  if (late !== null) return late;
  return {
    set: {
      status: 'failed',
      failure: operationFailure(fact.code),
      attention: { since: now, reason: 'the issuer did not give back the balance of the card' },
      monitor_until: monitoredUntil(operation, fact.via, now),
    },
    ...backOnCard(operation, 'resolve'),
  };
}

/** The amount that the issuer had given back before it took a part of it back. */
export const everGivenMinor = (operation: Funding): bigint =>
  bookedMinor(operation) + (operation.taken_back_minor ?? 0n);

function reverse(
  operation: Funding,
  { amountMinor: reversedMinor, via }: Extract<InstructionFact, { kind: 'reversed' }>,
  now: Date,
): UnloadChange | 'unchanged' {
  // Before anything is booked, there is no amount to compare with: nothing of it remains given back.
  const isBooked = operation.status === 'completed';
  if (isBooked && reversedMinor !== null && reversedMinor !== everGivenMinor(operation)) {
    return reverseOther(operation, reversedMinor, via, now);
  }
  const givenMinor = bookedMinor(operation);
  if (operation.reversed_at !== null) return 'unchanged';
  const reversed = {
    status: 'failed',
    reversed_at: now,
    monitor_until: null,
    failure: operationFailure('reversed'),
    attention: { since: now, reason: 'the issuer took back the balance that it had given back' },
  } as const;
  if (isOpen(operation)) return { set: reversed, ...backOnCard(operation, 'resolve') };
  if (operation.status === 'failed') {
    return { set: { reversed_at: now }, entry: ['reversed', 'the balance had stayed on the card'] };
  }
  return {
    set: reversed,
    entry: ['reversed', 'the wallet gave it back to the card'],
    movement: {
      step: 'reversal',
      heldMinor: 0n,
      cardMinor: givenMinor,
      walletMinor: -givenMinor,
    },
  };
}

/**
 * Another amount than was given back. A report may be a repeat or one of several parts, so only an operator books it, who has the
 * issuer asked how much it has taken back by now.
 */
function reverseOther(
  operation: Funding,
  reversedMinor: bigint,
  via: FactSource['via'],
  now: Date,
): UnloadChange | 'unchanged' {
  const { taken_back_minor: takenMinor = 0n } = operation;
  // A message may be older than what is booked; an answer is not.
  const isKnown = reversedMinor === takenMinor || (via === 'webhook' && reversedMinor < takenMinor);
  if (takenMinor > 0n && isKnown) return 'unchanged';
  const isPart = reversedMinor > takenMinor && reversedMinor < everGivenMinor(operation);
  if (via !== 'operator' || !isPart) {
    return contradict(operation, reversedMinor, now, OTHER_REVERSAL);
  }
  const partMinor = reversedMinor - takenMinor;
  return {
    set: {
      settled_amount_minor: bookedMinor(operation) - partMinor,
      taken_back_minor: reversedMinor,
      attention: null,
    },
    entry: ['reversed', `the wallet gave ${partMinor} of it back to the card`],
    movement: {
      step: `${PART_REVERSAL}${reversedMinor}`,
      heldMinor: 0n,
      cardMinor: partMinor,
      walletMinor: -partMinor,
    },
  };
}

/**
 * Raises attention for an amount that contradicts what is booked. Another amount for the same reason is written too: what the issuer
 * answered before it is outdated.
 */
function contradict(
  operation: Funding,
  amountMinor: bigint,
  now: Date,
  reason: string,
): UnloadChange | 'unchanged' {
  const raised = raiseAttention(operation, now, reason);
  const set = { contradicting_minor: amountMinor };
  if (raised !== 'unchanged') return { ...raised, set: { ...raised.set, ...set } };
  if (operation.contradicting_minor === amountMinor) return 'unchanged';
  return { set, entry: ['note', `${reason}: ${amountMinor} now`], verdict: 'attention' };
}

const backOnCard = (
  { amount_minor: amountMinor }: Funding,
  step: UnloadMovement['step'],
): Pick<UnloadChange & object, 'entry' | 'movement'> => ({
  entry: ['released', 'the balance is on the card again'],
  movement: { step, heldMinor: -amountMinor, cardMinor: amountMinor, walletMinor: 0n },
});

function confirm({ status, attention }: Funding): UnloadChange | 'unchanged' | 'stale' {
  if (status !== 'completed') return 'stale';
  if (attention === null) return 'unchanged';
  return {
    set: { attention: null },
    entry: ['attention_cleared', 'an operator confirmed the unloading, and so did the issuer'],
  };
}

/** The fact in an issuer's report about an unloading, or null if the outcome is not final yet. */
export function unloadFactOf(state: UnloadState, source: FactSource): InstructionFact | null {
  switch (state.kind) {
    case 'pending':
      return null;
    case 'rejected':
      return { ...source, kind: 'rejected', code: state.code };
    default: {
      const kind = state.kind === 'unloaded' ? 'succeeded' : 'reversed';
      return { ...source, kind, amountMinor: state.amountMinor, sessionId: null };
    }
  }
}
