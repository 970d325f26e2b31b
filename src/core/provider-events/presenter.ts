import type { z } from 'zod';
import type { cardEventResource, replayResource } from './api.js';
import type { ProviderEventReplay, ProviderEvent } from './event.js';

/** An event as its tenant sees it; every field is named here, so that a new stored field never leaks. */
export const presentCardEvent = (event: ProviderEvent): z.infer<typeof cardEventResource> => ({
  id: event._id,
  card_id: event.card_id,
  provider: event.provider,
  event: event.event,
  data: event.message,
  status: event.status,
  received_at: event.received_at.toISOString(),
  processed_at: event.processed_at?.toISOString() ?? null,
});

/** A replay as tenants get it. */
export const presentReplay = (replay: ProviderEventReplay): z.infer<typeof replayResource> => ({
  id: replay._id,
  event_id: replay.event_id,
  status: replay.status,
  failure: replay.failure && { code: replay.failure.code, message: replay.failure.message },
  created_at: replay.created_at.toISOString(),
  completed_at: replay.completed_at?.toISOString() ?? null,
});
