import { eventOperations, pingEvents } from './api.js';
import { eventRoutes } from './routes.js';

/** The events that were sent to tenants, as these read them. */
export const webhookEventCapability = {
  name: 'webhook-events',
  operations: eventOperations,
  events: pingEvents,
  routes: eventRoutes,
};
