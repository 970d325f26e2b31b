import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen, timelineEntry } from '../../core/instructions/instruction.js';
import {
  applyChange,
  isOutdatedRejection,
  labelOf,
  type Change,
} from '../../core/instructions/transition.js';
import {
  desiredAtIssuer,
  lockHolders,
  statusByLocks,
  type Card,
  type CardStatus,
} from '../cards/record.js';
import { operationFailure, type CardOperation } from '../cards/card-operation.js';
import { ApiError } from '../../shared/errors.js';
import type { IssuerCardState } from '../../core/providers/card-issuer.js';

/** The types of operations that change the state of a card at the issuer. */
const CARD_STATE_TYPES = ['lock', 'unlock', 'close'] as const;
/** A type of change of a card's state. */
export type CardStateType = (typeof CARD_STATE_TYPES)[number];
/** A lock, an unlock or a closing, or the repair of a state that others have changed. */
export type CardStateOperation = CardOperation & { type: CardStateType | 'state_reset' };

/** True for operations that change the state of a card at the issuer. */
export const isCardStateOperation = (operation: CardOperation): operation is CardStateOperation =>
  operation.type === 'state_reset' || CARD_STATE_TYPES.some((type) => type === operation.type);

/** The state that an operation sets at the issuer. */
export const stateSetBy = ({ type }: CardStateOperation, card: Card): IssuerCardState =>
  type === 'state_reset' ? desiredAtIssuer(card) : STATE_AT_ISSUER[type];

const STATE_AT_ISSUER: Record<CardStateType, IssuerCardState> = {
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
export function refuseCardState(card: Card, type: CardStateType): ApiError | null {
  const { status } = card;
  if (!ALLOWED_TYPES[status].some((each) => each === type)) {
    const message = `The card is ${status}.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  const holder = type === 'unlock' && lockedByOthers(card);
  if (!holder) return null;
  const details = { status, locked_by: lockHolders(card) };
  return new ApiError('invalid_state', { message: `The card is locked by ${holder}.`, details });
}

/** A lock of the issuer or of an operator is not lifted by the tenant. */
const lockedByOthers = ({ locks }: Card) =>
  locks.issuer ? 'its issuer' : locks.operator ? 'an operator' : null;

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
  {
    _id: operation,
    type,
    transaction_reference: reference,
  }: CardStateOperation & { type: CardStateType },
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

const CONFIRMED: Record<CardStateOperation['type'], string> = {
  state_reset: 'the issuer has the state that the card should have',
  lock: 'the card is locked at the issuer too',
  unlock: 'the card is open',
  close: 'the card is closed at the issuer too',
};

/** Without the issuer's confirmation the card stays locked or closed here, and payments are declined. */
const NOT_CONFIRMED: Record<CardStateOperation['type'], string> = {
  state_reset: 'the issuer has not confirmed the state of the card',
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
  if (fact.kind !== 'rejected' || isOutdatedRejection(operation, fact)) {
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
  const control = {
    ...card.state_control,
    confirmed_sequence: Number(sequence),
    pending_operation_id: null,
    ...doubt(card, operation, fact.via === 'provider_answer', now),
  };
  return {
    verdict: 'applied',
    next: finish(operation, fact, now, set, CONFIRMED[type]),
    card: { state_control: control, status: statusByLocks({ ...card, state_control: control }) },
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
  const next = {
    ...card,
    state_control: {
      ...control,
      desired,
      pending_operation_id: null,
      ...doubt(card, operation, false, now),
    },
  } as const;
  return {
    verdict: 'applied',
    next: finish(operation, fact, now, set, NOT_CONFIRMED[type]),
    card: { state_control: next.state_control, status: statusByLocks(next) },
  };
}

/**
 * Where the issuer keeps no order, a request without an answer may be executed after a newer one. Then the state is read once
 * more, later.
 */
export const doubt = (
  { state_sequence: order }: Pick<Card, 'state_sequence'>,
  { submissions }: Pick<CardOperation, 'submissions'>,
  isAnswered: boolean,
  now: Date,
): Partial<Card['state_control']> =>
  order === 'ours' && submissions > (isAnswered ? 1 : 0) ? { doubted_at: now } : {};

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
