import type { ProviderEvents } from '../src/core/provider-events/index.js';

export type ProviderEventActivityDeps = { providerEvents: Pick<ProviderEvents, 'handling'> };

export function createProviderEventActivities({ providerEvents }: ProviderEventActivityDeps) {
  return {
    /** One try of a stored event. Fails only with our own store, and is then repeated. */
    applyProviderEvent: (given: { id: string; nextMs: number | null }) =>
      providerEvents.handling.applyProviderEvent(given),

    /** The same once more, by a replay. */
    replayProviderEvent: (given: { id: string }) =>
      providerEvents.handling.replayProviderEvent(given),
  };
}
