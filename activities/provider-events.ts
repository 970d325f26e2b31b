import type { CardEvents } from '../src/core/provider-events/index.js';

export type ProviderEventActivityDeps = { cardEvents: Pick<CardEvents, 'handling'> };

/** The activities of provider events. Their names are in histories, so they never change. */
export function createProviderEventActivities({ cardEvents }: ProviderEventActivityDeps) {
  return {
    /** Applies a stored event once. Fails only if our database fails, and Temporal then retries it. */
    applyProviderEvent: (given: { id: string; nextMs: number | null }) =>
      cardEvents.handling.applyCardEvent(given),

    /** Applies a stored event for a replay. */
    replayProviderEvent: (given: { id: string }) => cardEvents.handling.replayCardEvent(given),
  };
}
