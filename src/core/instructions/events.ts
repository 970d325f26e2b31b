import type { EventDraft } from '../webhooks/event.js';
import type { InstructionRecord } from './instruction.js';

/** The fields of a record that counts its events. */
type CountsEvents = Pick<InstructionRecord, '_id' | 'tenant_id' | 'event_sequence' | 'updated_at'>;

/** A changed record with its event counted, and that event; null if the change is no event. */
export type WithEvent<R> = { next: R; event: EventDraft | null };

/** Makes the name and the data of an event from the record with the event counted. */
type DescribeEvent<R> = (next: R) => Pick<EventDraft, 'name' | 'data'>;

/** Counts the event of a change. The event is counted even if the tenant has no endpoint for it. */
export function countEvent<R extends CountsEvents>(
  before: R,
  after: R,
  describeEvent: DescribeEvent<R>,
): WithEvent<R> {
  const sequence = before.event_sequence + 1;
  const next = { ...after, event_sequence: sequence };
  const { tenant_id: tenantId, _id: resource, updated_at: at } = next;
  return { next, event: { tenantId, resource, sequence, at, ...describeEvent(next) } };
}

/** Counts the event of a change of status. Changes within a status concern operators alone, and are no events. */
export const countStatusEvent = <R extends InstructionRecord>(
  before: R,
  after: R,
  describeEvent: DescribeEvent<R>,
): WithEvent<R> =>
  after.status === before.status
    ? { next: after, event: null }
    : countEvent(before, after, describeEvent);
