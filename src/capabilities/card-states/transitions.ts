import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { applyChange, labelOf, type Change } from '../../core/instructions/transition.js';
import type { Card } from '../cards/card.js';
import { operationFailure, type CardOperation } from '../cards/card-operation.js';
import type { CardStateOperation, CardStateType } from './card-state.js';

/** The effect of a fact. `unchanged` and `stale` write nothing. `card` is null if the card does not change. */
export type CardStateTransition = {
  verdict: 'applied' | 'unchanged' | 'stale';
  next: CardOperation;
  card: Partial<Card> | null;
};

const CONFIRMED: Record<CardStateType, string> = {
  lock: 'the card is locked at the issuer too',
  unlock: 'the card is open',
  close: 'the card is closed at the issuer too',
};

/** Without the issuer's confirmation the card stays locked or closed here, and payments are declined. */
const NOT_CONFIRMED: Record<CardStateType, string> = {
  lock: 'the card stays locked here; the issuer has not confirmed it',
  unlock: 'the card stays locked',
  close: 'the card stays closed here; the issuer has not confirmed it',
};

/**
 * The state machine of locks, unlocks and closings. It ends them all, except those that `supersede` ends. Facts about an
 * operation that has ended change nothing, because a later operation determines the desired state.
 */
export function transitionCardState(
  operation: CardStateOperation,
  card: Card,
  fact: InstructionFact,
  now: Date,
): CardStateTransition {
  const idle = { next: operation, card: null };
  if (!isOpen(operation))
    return { verdict: confirmsStatus(operation, fact) ? 'unchanged' : 'stale', ...idle };
  if (fact.kind === 'succeeded') return confirm(operation, card, fact, now);
  if (fact.kind !== 'rejected' || (fact.ifNotSubmitted && operation.submissions > 0)) {
    return { verdict: 'stale', ...idle };
  }
  return fail(operation, card, fact, now);
}

const confirmsStatus = ({ status }: CardOperation, { kind }: InstructionFact) =>
  (kind === 'succeeded' && status === 'completed') || (kind === 'rejected' && status === 'failed');

function confirm(
  operation: CardStateOperation,
  card: Card,
  fact: InstructionFact,
  now: Date,
): CardStateTransition {
  const { type, state_sequence: sequence } = operation;
  const set = { status: 'completed', completed_at: now } as const;
  const opens = type === 'unlock' && card.status === 'locked';
  const control = {
    ...card.state_control,
    confirmed_sequence: Number(sequence),
    pending_operation_id: null,
  };
  return {
    verdict: 'applied',
    next: finish(operation, fact, now, set, CONFIRMED[type]),
    card: { state_control: control, ...(opens && { status: 'active' as const }) },
  };
}

function fail(
  operation: CardStateOperation,
  card: Card,
  fact: InstructionFact & { kind: 'rejected' },
  now: Date,
): CardStateTransition {
  const { type } = operation;
  const set = { status: 'failed', failure: operationFailure(fact.code) } as const;
  const { state_control: control } = card;
  const desired = type === 'unlock' ? 'locked' : control.desired;
  return {
    verdict: 'applied',
    next: finish(operation, fact, now, set, NOT_CONFIRMED[type]),
    card: { state_control: { ...control, desired, pending_operation_id: null } },
  };
}

function finish(
  operation: CardOperation,
  fact: InstructionFact,
  now: Date,
  set: Partial<CardOperation>,
  detail: string,
): CardOperation {
  const label = fact.kind === 'succeeded' ? 'set' : labelOf(fact);
  const change: Change<CardOperation> = {
    set: { ...set, attention: null },
    entry: ['completed', detail],
  };
  return applyChange(operation, fact, label, change, now);
}
