import type { ProviderEvents } from '../src/core/provider-events/index.js';

/** Parts that the activities of provider events need. */
export type ProviderEventActivityDeps = { providerEvents: Pick<ProviderEvents, 'application'> };

/** The activities of provider events. Their names are in histories, so they never change. */
export function createProviderEventActivities({ providerEvents }: ProviderEventActivityDeps) {
  return {
    /** Applies a stored event once. Fails only if our database fails, and Temporal then retries it. */
    applyProviderEvent: (given: { id: string; nextMs: number | null }) =>
      providerEvents.application.applyProviderEvent(given),

    /** Applies a stored event for a replay. */
    replayProviderEvent: (given: { id: string }) =>
      providerEvents.application.replayProviderEvent(given),
  };
}
