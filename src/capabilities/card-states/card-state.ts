import { ApiError } from '../../shared/errors.js';
import type { IssuerCardState } from '../../core/providers/card-issuer.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import type { Card, CardStatus } from '../cards/card.js';
import { operationFailure, type CardOperation } from '../cards/card-operation.js';

/** What changes how a card stands at the issuer. */
const CARD_STATE_TYPES = ['lock', 'unlock', 'close'] as const;
export type CardStateType = (typeof CARD_STATE_TYPES)[number];
export type CardStateOperation = CardOperation & { type: CardStateType };

export const isCardStateOperation = (operation: CardOperation): operation is CardStateOperation =>
  CARD_STATE_TYPES.some((type) => type === operation.type);

/** How the card has to stand at the issuer. */
export const STATE_AT_ISSUER: Record<CardStateType, IssuerCardState> = {
  lock: 'locked',
  unlock: 'open',
  close: 'closed',
};

/** How the card stands with us from the moment of the answer on. An unlock waits for the issuer. */
const IMMEDIATE_STATUS: Partial<Record<CardStateType, CardStatus>> = {
  lock: 'locked',
  close: 'closed',
};

/** Why the card takes no such operation, or null. */
export function refuseCardState({ status }: Card, type: CardStateType): ApiError | null {
  if (ALLOWED_TYPES[status].some((each) => each === type)) return null;
  return new ApiError('invalid_state', { message: `The card is ${status}.`, details: { status } });
}

/** A card that is over can only be closed. */
const ALLOWED_TYPES: Record<CardStatus, readonly CardStateType[]> = {
  pending: [],
  failed: [],
  active: CARD_STATE_TYPES,
  locked: CARD_STATE_TYPES,
  expired: ['close'],
  closed: ['close'],
};

/** Whether the card stands so already, and the issuer has agreed: then nothing has to be done. */
export function isAlreadyInState({ state_control: control }: Card, type: CardStateType): boolean {
  const confirmed =
    control.pending_operation_id === null && control.confirmed_sequence === control.sequence;
  return confirmed && control.desired === STATE_AT_ISSUER[type];
}

/** What of a card changes when an operation is accepted, which is the one under way from then on. */
export function withPendingOperation(
  card: Card,
  { _id: operation, type }: CardStateOperation,
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
  };
}

/** The end of an operation that became needless before the issuer had agreed. */
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
