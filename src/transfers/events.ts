import type { EventDraft } from '../webhooks/out/event.js';
import { presentTransfer } from './presenter.js';
import type { Transfer } from './transfer.js';

/**
 * The event of a change, and the transfer with that event counted. Only a change of state is one: what happens to a
 * transfer within its state concerns operators. Counted whether anybody listens or not.
 */
export function withEvent(
  before: Transfer,
  after: Transfer,
): { next: Transfer; event: EventDraft | null } {
  if (after.status === before.status) return { next: after, event: null };
  const sequence = (before.events ?? 0) + 1;
  const next = { ...after, events: sequence };
  const event: EventDraft = {
    tenant: next.tenant,
    resource: next._id,
    name: nameOf(before, next),
    sequence,
    at: next.updated_at,
    data: presentTransfer(next),
  };
  return { next, event };
}

function nameOf(before: Transfer, after: Transfer): string {
  const reversed = after.reversed_at !== null && before.reversed_at === null;
  return `transfer.${reversed ? 'reversed' : after.status}`;
}
