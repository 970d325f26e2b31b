import { defineCapability } from '../../core/capability.js';
import { recurringChargeEvents, recurringChargeOperations } from './api.js';
import { recurringCharges } from './recurring-charge.js';
import { recurringChargeRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import type { RecurringStarter } from './starter.js';
import type { RecurringCharges } from './store.js';

/** The capability `recurring-charges`. */
export const recurringChargeCapability = defineCapability({
  name: 'recurring-charges',
  collections: [recurringCharges],
  operations: recurringChargeOperations,
  events: recurringChargeEvents,
  routes: recurringChargeRoutes,
  supervised: (deps: {
    recurringCharges: RecurringCharges;
    recurringStarter: RecurringStarter;
  }) => ({
    recurring_charges: supervised(deps.recurringCharges, deps.recurringStarter),
  }),
});
