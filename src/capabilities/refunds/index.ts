import { defineCapability } from '../../core/capability.js';
import { refundEvents, refundOperations } from './api.js';
import { auditRefunds } from './audit.js';
import { refunds } from './refund.js';
import { refundEventHandler } from './provider-events.js';
import { refundRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import type { RefundStarter } from '../charges/starters.js';
import type { Refunds } from './store.js';

/** The capability `refunds`. */
export const refundCapability = defineCapability({
  name: 'refunds',
  collections: [refunds],
  operations: refundOperations,
  events: refundEvents,
  audit: auditRefunds,
  routes: refundRoutes,
  providerEvents: refundEventHandler,
  supervised: (deps: { refunds: Refunds; refundStarter: RefundStarter }) => ({
    refunds: supervised(deps.refunds, deps.refundStarter),
  }),
});
