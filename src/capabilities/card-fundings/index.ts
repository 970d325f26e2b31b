import { defineCapability } from '../../core/capability.js';
import { cardFundingOperations, cardOperationEvents } from './api.js';
import { cardFundingRoutes } from './routes.js';

/** The capability `card-fundings`: fundings and auto-reloads of cards. `createCards` makes its parts. */
export const cardFundingCapability = defineCapability({
  name: 'card-fundings',
  operations: cardFundingOperations,
  events: cardOperationEvents,
  routes: cardFundingRoutes,
});
