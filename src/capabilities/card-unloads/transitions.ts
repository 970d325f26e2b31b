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
import { operationFailure, type CardOperation, type Funding } from '../cards/card-operation.js';

/** A movement of a card's balance: the changes of each amount (negative: it decreases). They and the surplus balance. */
export type UnloadMovement = {
  step: 'resolve' | 'late' | 'reversal';
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
      return reverse(operation, fact.amountMinor, now);
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
    return givenMinor === (operation.settled_amount_minor ?? askedMinor)
      ? 'unchanged'
      : raiseAttention(operation, now, 'the issuer reports another amount than before');
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
  const reason = 'the issuer gave back more than the card has: the surplus is in suspense';
  return {
    set: { ...completed, attention: takenMinor < givenMinor ? { since: now, reason } : null },
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
    contradiction: 'the issuer rejects what it had reported as given back',
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

function reverse(
  operation: Funding,
  reversedMinor: bigint | null,
  now: Date,
): UnloadChange | 'unchanged' {
  const givenMinor = operation.settled_amount_minor ?? operation.amount_minor;
  // Before anything is booked, there is no amount to compare with: nothing of it remains given back.
  const isBooked = operation.status === 'completed';
  if (isBooked && reversedMinor !== null && reversedMinor !== givenMinor) {
    return raiseAttention(operation, now, 'the issuer reversed another amount than it gave back');
  }
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
