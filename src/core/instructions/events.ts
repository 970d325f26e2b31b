import type { EventDraft } from '../webhooks/event.js';
import type { InstructionRecord } from './instruction.js';

/** Makes the name and the data of the event that a change of status causes. */
type DescribeChange<R> = (before: R, after: R) => Pick<EventDraft, 'name' | 'data'>;

/**
 * The event of a change, and the record with that event counted. Only a change of status is an event; changes within a
 * status concern operators alone. The event is counted even if the tenant has no endpoint for it.
 */
export function countEvent<R extends InstructionRecord>(
  before: R,
  after: R,
  describeChange: DescribeChange<R>,
): { next: R; event: EventDraft | null } {
  if (after.status === before.status) return { next: after, event: null };
  const sequence = before.event_sequence + 1;
  const next = { ...after, event_sequence: sequence };
  const { tenant_id: tenantId, _id: resource, updated_at: at } = next;
  return { next, event: { tenantId, resource, sequence, at, ...describeChange(before, next) } };
}
