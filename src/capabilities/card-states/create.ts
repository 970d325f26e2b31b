import { acceptCardState } from './mutations.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
  successResponse,
} from '../../core/commit/accept.js';
import type { Card } from '../cards/record.js';
import { newOperation, operationReference, type CardOperation } from '../cards/card-operation.js';
import { presentOperation } from '../cards/index.js';
import { type CardStateOperation, type CardStateType } from './transitions.js';
import type { CardStateChangeBody } from './schema.js';

/** Accepts a lock, an unlock or a closing and returns the response. Saves it under the idempotency key, if there is one. */
export type ChangeCardState = (
  card: Card,
  type: CardStateType,
  body: CardStateChangeBody,
  claim: Claim | null,
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/**
 * Creates the function that accepts changes of a card's state. It commits card, operation, superseded operation and saved
 * response in one transaction, then starts or wakes the workflow of the card.
 */
export function createCardStateChange(deps: {
  groupCommit: GroupCommit;
  starter: { startSoon(operation: CardOperation): void };
}): ChangeCardState {
  const { groupCommit, starter } = deps;

  return async (card, type, body, claim) => {
    const { tenant_id: tenantId } = card;
    const operation = newCardStateOperation(card, type, body, new Date());
    const outcome = throwIfKeyReused(
      await groupCommit.commit(acceptCardState, { tenantId, operation, claim, answer }),
    );
    if (outcome.resource === operation._id) starter.startSoon(operation);
    return outcome;
  };
}

const answer = (operation: CardOperation) => successResponse(presentOperation(operation));

function newCardStateOperation(
  { _id: card, tenant_id: tenantId, provider }: Card,
  type: CardStateType,
  { reason, request_id, metadata, transaction_reference }: CardStateChangeBody,
  now: Date,
): CardStateOperation & { type: CardStateType } {
  const reference = transaction_reference ?? null;
  const given = {
    ...(reference !== null && { reference: operationReference(card, reference) }),
    reason: reason ?? null,
    request_id: request_id ?? null,
    metadata,
    transaction_reference: reference,
  };
  const accepted = newOperation(
    { tenant_id: tenantId, card_id: card, type, provider, ...given },
    now,
    ACCEPTED_DETAILS[type],
  );
  return { ...accepted, type };
}

const ACCEPTED_DETAILS: Record<CardStateType, string> = {
  lock: 'the card is locked here from now on',
  unlock: 'the card opens when the issuer confirms it',
  close: 'the card is closed here for good',
};
