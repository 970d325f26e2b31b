import { defineCapability } from '../capability.js';
import { supervised } from '../supervision/supervision.js';
import { cardEventOperations } from './api.js';
import { receiveCardEvent, receivePaymentCallback } from './callback-api.js';
import { callbackRoutes } from './callback-routes.js';
import { callbacksCollection } from './callbacks.js';
import { providerEventsCollection } from './collections.js';
import { providerEventReplays } from './event.js';
import type { ProviderEvents } from './index.js';
import { cardEventRoutes } from './routes.js';

type CardEventDeps = Parameters<typeof cardEventRoutes>[0];
type RouteDeps = Parameters<typeof callbackRoutes>[0] &
  Omit<CardEventDeps, 'cards'> & { cards: { store: CardEventDeps['cards'] } };

/** Messages from providers: received, listed, replayed. */
export const providerEventCapability = defineCapability({
  name: 'provider-events',
  collections: [callbacksCollection, providerEventsCollection, providerEventReplays],
  operations: { ...cardEventOperations, receivePaymentCallback, receiveCardEvent },
  routes: (deps: RouteDeps) => [
    ...callbackRoutes(deps),
    ...cardEventRoutes({ ...deps, cards: deps.cards.store }),
  ],
  supervised: ({ providerEvents }: { providerEvents: ProviderEvents }) => ({
    provider_events: supervised(providerEvents.store, providerEvents.starter),
    provider_event_replays: supervised(providerEvents.replays, providerEvents.replayStarter),
  }),
});
