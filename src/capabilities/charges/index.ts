import { defineCapability } from '../../core/capability.js';
import { chargeEvents, chargeOperations } from './api.js';
import { auditCharges } from './audit.js';
import { charges } from './charge.js';
import { chargeEventHandler } from './provider-events.js';
import { chargeRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import type { ChargeStarter } from './starters.js';
import type { Charges } from './store.js';

/** The capability `charges`. */
export const chargeCapability = defineCapability({
  name: 'charges',
  collections: [charges],
  operations: chargeOperations,
  events: chargeEvents,
  audit: auditCharges,
  routes: chargeRoutes,
  providerEvents: chargeEventHandler,
  supervised: (deps: { charges: Charges; chargeStarter: ChargeStarter }) => ({
    charges: supervised(deps.charges, deps.chargeStarter),
  }),
});
