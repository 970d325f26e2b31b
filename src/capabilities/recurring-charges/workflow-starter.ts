import { failpoint } from '../../shared/failpoints.js';
import {
  createWorkflowStarter,
  type StarterSettings,
} from '../../core/supervision/workflow-starter.js';
import { inWords } from './schedule.js';
import { createSchedules } from './schedules.js';
import { isDue, renewalWorkflowId, type RecurringCharge } from './recurring-charge.js';
import type { RenewalInput } from './workflow-contract.js';

export type RecurringStarter = ReturnType<typeof createRecurringStarter>;

/** Brings Temporal in line with a recurring charge: its Schedule, and a renewal where a period is overdue. */
export function createRecurringStarter(settings: StarterSettings) {
  const { log } = settings;
  const schedules = createSchedules(settings);
  const renewals = createWorkflowStarter<RecurringCharge>({
    ...settings,
    workflow: 'recurringChargeRenewal',
    workflowId: ({ _id }) => renewalWorkflowId(_id),
    toStart(recurring) {
      const { _id: reference, tenant_id: tenantId, amount_minor: amountMinor } = recurring;
      const input: RenewalInput = { tenantId, id: reference };
      const summary = inWords(recurring);
      return { input, tenantId, provider: null, reference, amountMinor, summary };
    },
  });
  const underWay = new Set<Promise<void>>();

  async function start(recurring: RecurringCharge): Promise<void> {
    // What is due first: a customer of the tenant's waits for it, and nobody for the Schedule.
    if (isDue(recurring, new Date())) await renewals.start(recurring);
    failpoint('schedule.before');
    await schedules.keep(recurring);
    failpoint('schedule.after');
  }

  return {
    schedules,
    start,

    /** The same without being waited for: what fails is made up for by the sweep. */
    startSoon(recurring: RecurringCharge): void {
      const attempt = start(recurring)
        .catch((error: unknown) => {
          const which = { recurring: recurring._id };
          log.warn({ err: error, ...which }, 'schedule update failed, dispatcher will retry');
        })
        .finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    },

    idle: async () => void (await Promise.all(underWay)),
  };
}
