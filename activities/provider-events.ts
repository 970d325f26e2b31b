import type { CardEvents } from '../src/core/provider-events/index.js';

export type ProviderEventActivityDeps = { cardEvents: Pick<CardEvents, 'handling'> };

export function createProviderEventActivities({ cardEvents }: ProviderEventActivityDeps) {
  return {
    /** One try of a stored event. Fails only with our own store, and is then repeated. */
    applyProviderEvent: (given: { id: string; nextMs: number | null }) =>
      cardEvents.handling.applyCardEvent(given),

    /** The same once more, by a replay. */
    replayProviderEvent: (given: { id: string }) => cardEvents.handling.replayCardEvent(given),
  };
}
