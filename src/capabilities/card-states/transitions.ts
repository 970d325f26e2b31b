import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { applyChange, labelOf, type Change } from '../../core/instructions/transition.js';
import type { Card, CardStatus } from '../cards/card.js';
import { operationFailure, type CardOperation } from '../cards/card-operation.js';
import { ApiError } from '../../shared/errors.js';
import type { IssuerCardState } from '../../core/providers/card-issuer.js';
import { timelineEntry } from '../../core/instructions/timeline.js';

/** The types of operations that change the state of a card at the issuer. */
const CARD_STATE_TYPES = ['lock', 'unlock', 'close'] as const;
/** A type of change of a card's state. */
export type CardStateType = (typeof CARD_STATE_TYPES)[number];
/** A lock, an unlock or a closing. */
export type CardStateOperation = CardOperation & { type: CardStateType };

/** True for a lock, an unlock or a closing. */
export const isCardStateOperation = (operation: CardOperation): operation is CardStateOperation =>
  CARD_STATE_TYPES.some((type) => type === operation.type);

/** The state that each type of operation sets at the issuer. */
export const STATE_AT_ISSUER: Record<CardStateType, IssuerCardState> = {
  lock: 'locked',
  unlock: 'open',
  close: 'closed',
};

/** The status that the card takes on acceptance. An unlock has none: the card stays locked until the issuer confirms. */
const IMMEDIATE_STATUS: Partial<Record<CardStateType, CardStatus>> = {
  lock: 'locked',
  close: 'closed',
};

/** The refusal of an operation that the card's status does not allow, or null. */
export function refuseCardState({ status }: Card, type: CardStateType): ApiError | null {
  if (ALLOWED_TYPES[status].some((each) => each === type)) return null;
  return new ApiError('invalid_state', { message: `The card is ${status}.`, details: { status } });
}

/** The operations that each status allows. An expired card can only be closed. */
const ALLOWED_TYPES: Record<CardStatus, readonly CardStateType[]> = {
  pending: [],
  failed: [],
  active: CARD_STATE_TYPES,
  locked: CARD_STATE_TYPES,
  expired: ['close'],
  closed: ['close'],
};

/** True if the issuer has confirmed the desired state already, so that nothing must be submitted. */
export function isAlreadyInState({ state_control: control }: Card, type: CardStateType): boolean {
  const confirmed =
    control.pending_operation_id === null && control.confirmed_sequence === control.sequence;
  return confirmed && control.desired === STATE_AT_ISSUER[type];
}

/** The change of a card that accepts an operation and makes it the pending one. */
export function withPendingOperation(
  card: Card,
  { _id: operation, type, transaction_reference: reference }: CardStateOperation,
): Partial<Card> {
  const { state_control: control, status } = card;
  return {
    status: IMMEDIATE_STATUS[type] ?? status,
    state_control: {
      ...control,
      desired: STATE_AT_ISSUER[type],
      sequence: control.sequence + 1,
      pending_operation_id: operation,
    },
    ...(reference !== null && { unload: { ...card.unload, transaction_reference: reference } }),
  };
}

/** Fails an open operation that a later one has replaced, or that the expiry of the card has ended. */
export function supersede(
  operation: CardOperation,
  code: string,
  why: string,
  now: Date,
): CardOperation {
  return {
    ...operation,
    status: 'failed',
    failure: operationFailure(code),
    attention: null,
    next_check_at: null,
    version: operation.version + 1,
    updated_at: now,
    timeline: [
      ...operation.timeline,
      timelineEntry(now, 'completed', 'bursar', { detail: `${code}: ${why}` }),
    ],
  };
}

/** The effect of a fact. `unchanged` and `stale` write nothing. `card` is null if the card does not change. */
type CardStateTransition = {
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
