import type { AppContext } from '../../platform/http/context.js';
import { sendPage, type Position } from '../../platform/http/respond.js';
import type { Deliveries } from '../webhooks/deliveries.js';
import { presentTimelineEntry } from './api-fields.js';
import { timelineWithDeliveries, type TimelineEntry } from './instruction.js';

/** The part of webhooks that timelines show. */
export type TimelineWebhooks = { deliveries: Pick<Deliveries, 'timelineOf'> };

/** Sends a page of a record's timeline, with the deliveries of its webhooks. */
export async function sendTimeline(
  ctx: AppContext,
  { deliveries }: TimelineWebhooks,
  record: { _id: string; tenant_id: string; timeline: TimelineEntry[] },
  position: Position,
): Promise<void> {
  const delivered = await deliveries.timelineOf(record.tenant_id, record._id);
  const entries = timelineWithDeliveries(record, delivered);
  sendPage(ctx, entries.map(presentTimelineEntry), position);
}
