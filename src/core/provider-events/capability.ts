import { supervised } from '../supervision/supervision.js';
import { cardEventOperations, receiveCardEvent, receivePaymentCallback } from './api.js';
import { providerEventReplays, providerEvents as providerEventRecords } from './event.js';
import type { ProviderEvents } from './index.js';
import { providerEventRoutes } from './routes.js';

/** Messages from providers: received, applied, listed, replayed. Each capability adds the handler of its records. */
export const providerEventCapability = {
  name: 'provider-events',
  collections: [providerEventRecords, providerEventReplays],
  operations: { ...cardEventOperations, receivePaymentCallback, receiveCardEvent },
  routes: providerEventRoutes,
  supervised: ({ providerEvents }: { providerEvents: ProviderEvents }) => ({
    provider_events: supervised(providerEvents.store, providerEvents.starter),
    provider_event_replays: supervised(providerEvents.replays, providerEvents.replayStarter),
  }),
};
