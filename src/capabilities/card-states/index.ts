import { defineCapability } from '../../core/capability.js';
import { cardControlOperations, cardStandingEvents } from './api.js';
import { cardControlRoutes } from './routes.js';

/** The capability `card-states`. */
export const cardStateCapability = defineCapability({
  name: 'card-states',
  operations: cardControlOperations,
  events: cardStandingEvents,
  routes: cardControlRoutes,
});
