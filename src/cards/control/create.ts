import type { GroupCommit } from '../../ledger/group-commit.js';
import { unlessReused, type Answer, type Claim } from '../../ledger/view.js';
import type { Card } from '../card.js';
import { newOperation, type CardOperation } from '../operation.js';
import { presentOperation } from '../presenter.js';
import type { ControlOperation, ControlType } from './control.js';
import type { ControlBody } from './schema.js';

export type ControlCard = (
  card: Card,
  type: ControlType,
  body: ControlBody,
  claim: Claim | null,
) => Promise<{ answer: Answer; resource: string | null; replayed: boolean }>;

/**
 * Accepts a lock, an unlock or a closing: one commit of card, operation, what it supersedes, key and answer; then the
 * card's workflow is woken, or started.
 */
export function createCardControl(deps: {
  groupCommit: GroupCommit;
  starter: { startSoon(operation: CardOperation): void };
  clock?: () => Date;
}): ControlCard {
  const { groupCommit, starter, clock = () => new Date() } = deps;

  return async (card, type, body, claim) => {
    const { tenant } = card;
    const operation = newControl(card, type, body, clock());
    const outcome = unlessReused(
      await groupCommit.commit({ kind: 'acceptControl', tenant, operation, claim, answer }),
    );
    if (outcome.resource === operation._id) starter.startSoon(operation);
    return outcome;
  };
}

const answer = (operation: CardOperation): Answer => ({
  status: 201,
  body: JSON.stringify({ success: true, data: presentOperation(operation) }),
});

function newControl(
  { _id: card, tenant, provider }: Card,
  type: ControlType,
  { reason, request_id, metadata }: ControlBody,
  now: Date,
): ControlOperation {
  const given = { reason: reason ?? null, request_id: request_id ?? null, metadata };
  const accepted = newOperation({ tenant, card, type, provider, ...given }, now, TOLD[type]);
  return { ...accepted, type };
}

const TOLD: Record<ControlType, string> = {
  lock: 'the card is locked here from now on',
  unlock: 'the card opens when the issuer confirms it',
  close: 'the card is closed here for good',
};
