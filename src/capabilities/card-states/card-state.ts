import { ApiError } from '../../shared/errors.js';
import type { CardStanding } from '../../core/providers/card-issuer.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import type { Card, CardStatus } from '../cards/card.js';
import { operationFailure, type CardOperation } from '../cards/card-operation.js';

/** What changes how a card stands at the issuer. */
const CONTROL_TYPES = ['lock', 'unlock', 'close'] as const;
export type ControlType = (typeof CONTROL_TYPES)[number];
export type ControlOperation = CardOperation & { type: ControlType };

export const isControl = (operation: CardOperation): operation is ControlOperation =>
  CONTROL_TYPES.some((type) => type === operation.type);

/** How the card has to stand at the issuer. */
export const STANDING: Record<ControlType, CardStanding> = {
  lock: 'locked',
  unlock: 'open',
  close: 'closed',
};

/** How the card stands with us from the moment of the answer on. An unlock waits for the issuer. */
const AT_ONCE: Partial<Record<ControlType, CardStatus>> = { lock: 'locked', close: 'closed' };

/** Why the card takes no such operation, or null. */
export function refuseControl({ status }: Card, type: ControlType): ApiError | null {
  if (TAKES[status].some((each) => each === type)) return null;
  return new ApiError('invalid_state', { message: `The card is ${status}.`, details: { status } });
}

/** A card that is over can only be closed. */
const TAKES: Record<CardStatus, readonly ControlType[]> = {
  pending: [],
  failed: [],
  active: CONTROL_TYPES,
  locked: CONTROL_TYPES,
  expired: ['close'],
  closed: ['close'],
};

/** Whether the card stands so already, and the issuer has agreed: then nothing has to be done. */
export function isSo({ state_control: control }: Card, type: ControlType): boolean {
  const settled =
    control.pending_operation_id === null && control.confirmed_sequence === control.sequence;
  return settled && control.desired === STANDING[type];
}

/** What of a card changes when an operation is accepted, which is the one under way from then on. */
export function controlled(card: Card, { _id: operation, type }: ControlOperation): Partial<Card> {
  const { state_control: control, status } = card;
  return {
    status: AT_ONCE[type] ?? status,
    state_control: {
      ...control,
      desired: STANDING[type],
      sequence: control.sequence + 1,
      pending_operation_id: operation,
    },
  };
}

/** The end of an operation that became needless before the issuer had agreed. */
export function givenUp(
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
