import type { z } from 'zod';
import type { eventResource } from './api.js';
import type { Delivery, StoredEvent } from './event.js';

/** An event as its tenant sees it: the fields of the webhook, and how its deliveries stand. */
export const presentEvent = (
  event: StoredEvent,
  deliveries: readonly Delivery[],
): z.infer<typeof eventResource> => ({
  id: event._id,
  event: event.name,
  resource: event.resource_id,
  sequence: event.sequence,
  created_at: event.created_at.toISOString(),
  data: (JSON.parse(event.body) as { data: unknown }).data,
  deliveries: deliveries.map((delivery) => ({
    id: delivery._id,
    endpoint_id: delivery.endpoint_id,
    status: delivery.status,
    attempts: delivery.attempt_count,
    last_status_code: delivery.attempts.at(-1)?.status ?? null,
    delivered_at: delivery.delivered_at?.toISOString() ?? null,
  })),
});
