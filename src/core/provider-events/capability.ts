import { defineCapability } from '../capability.js';
import { supervised } from '../supervision/supervision.js';
import { cardEventOperations } from './api.js';
import { receiveCardEvent, receivePaymentCallback } from './callback-api.js';
import { callbackRoutes } from './callback-routes.js';
import { callbacksCollection } from './callbacks.js';
import { cardEventsCollection } from './collections.js';
import { providerEventReplays } from './event.js';
import type { CardEvents } from './index.js';
import { cardEventRoutes } from './routes.js';

type RouteDeps = Parameters<typeof callbackRoutes>[0] & Parameters<typeof cardEventRoutes>[0];

/** Messages from providers: received, listed, replayed. */
export const providerEventCapability = defineCapability({
  name: 'provider-events',
  collections: [callbacksCollection, cardEventsCollection, providerEventReplays],
  operations: { ...cardEventOperations, receivePaymentCallback, receiveCardEvent },
  routes: (deps: RouteDeps) => [...callbackRoutes(deps), ...cardEventRoutes(deps)],
  supervised: ({ cardEvents }: { cardEvents: CardEvents }) => ({
    provider_events: supervised(cardEvents.store, cardEvents.starter),
    provider_event_replays: supervised(cardEvents.replays, cardEvents.replayStarter),
  }),
});
