import { defineCapability } from '../../core/capability.js';
import { cardStateOperations, cardStateEvents } from './api.js';
import { cardStateRoutes } from './routes.js';

/** The capability `card-states`: locks, unlocks and closings of cards. `createCards` makes its parts. */
export const cardStateCapability = defineCapability({
  name: 'card-states',
  operations: cardStateOperations,
  events: cardStateEvents,
  routes: cardStateRoutes,
});
