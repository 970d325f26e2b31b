import { erasedRecords } from '../../core/erasure/erased-records.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { recurringChargeOperations } from './api.js';
import { recurringChanges } from './create.js';
import { recurringCharges } from './record.js';
import { recurringChargeRoutes } from './routes.js';
import { createRecurringCharges } from './store.js';
import { createRecurringStarter } from './workflow-starter.js';
import { recurringChargeEvents } from './webhook-events.js';

/** The parts of recurring charges. */
type RecurringChargeParts = ReturnType<typeof createRecurringChargeParts>;

function createRecurringChargeParts(core: CoreDeps) {
  const { config, database, groupCommit, tenants } = core;
  const store = createRecurringCharges(database, groupCommit, {
    stallTimeoutMs: config.instructions.stallTimeoutMs,
    frozenOf: (ids) => tenants.frozenOf(ids),
    dunningDays: async (id) => (await tenants.get(id))?.dunningDays ?? config.payments.dunningDays,
  });
  const starter = createRecurringStarter(starterSettings(core));
  const { createRecurring, changeRecurring, updateRecurring } = recurringChanges({
    groupCommit,
    recurringCharges: store,
    recurringStarter: starter,
  });
  return {
    store,
    starter,
    create: createRecurring,
    change: changeRecurring,
    update: updateRecurring,
    idle: starter.idle,
  };
}

/** The capability `recurring-charges`: charges that a Temporal Schedule repeats. */
export const recurringChargeCapability = defineCapability({
  name: 'recurring-charges',
  servedBy: 'payments',
  collections: [recurringCharges],
  erased: [
    erasedRecords({
      collection: recurringCharges,
      label: 'recurring charges that have not ended',
      by: { field: 'customer_id' },
      isOpen: ({ status, next_check_at: check }) =>
        (status !== 'ended' && status !== 'cancelled') || check !== null,
      erased: () => ({ description: null, metadata: null }),
    }),
  ],
  operations: recurringChargeOperations,
  events: recurringChargeEvents,
  create: createRecurringChargeParts,
  routes: recurringChargeRoutes,
  supervised: (deps: { recurringCharges: RecurringChargeParts }) => ({
    recurring_charges: supervised(deps.recurringCharges.store, deps.recurringCharges.starter),
  }),
});
