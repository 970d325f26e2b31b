import type { EventDraft } from '../webhooks/outbound/event.js';
import type { PursuedRecord } from './record.js';

/** How a capability tells of a change of state. */
type Told<R> = (before: R, after: R) => Pick<EventDraft, 'name' | 'data'>;

/**
 * The event of a change, and the record with that event counted. Only a change of state is one: what happens to a
 * record within its state concerns operators. Counted whether anybody listens or not.
 */
export function countEvent<R extends PursuedRecord>(
  before: R,
  after: R,
  tell: Told<R>,
): { next: R; event: EventDraft | null } {
  if (after.status === before.status) return { next: after, event: null };
  const sequence = (before.events ?? 0) + 1;
  const next = { ...after, events: sequence };
  const { tenant, _id: resource, updated_at: at } = next;
  return { next, event: { tenant, resource, sequence, at, ...tell(before, next) } };
}
