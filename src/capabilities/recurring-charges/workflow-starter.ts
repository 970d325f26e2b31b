import { failpoint } from '../../shared/failpoints.js';
import {
  createWorkflowStarter,
  type StarterSettings,
} from '../../core/supervision/workflow-starter.js';
import { inWords } from './schedule.js';
import { createSchedules } from './schedules.js';
import { isDue, renewalWorkflowId, type RecurringCharge } from './recurring-charge.js';
import type { RenewalInput } from './workflow-contract.js';

/** Starts renewals and keeps the Schedules of recurring charges. */
export type RecurringStarter = ReturnType<typeof createRecurringStarter>;

/** Creates the starter of recurring charges. It keeps the Schedule of each in Temporal, and starts a renewal if a period is due. */
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
    // The due period comes first: a customer waits for it, and nobody for the Schedule.
    if (isDue(recurring, new Date())) await renewals.start(recurring);
    failpoint('schedule.before');
    await schedules.keep(recurring);
    failpoint('schedule.after');
  }

  return {
    schedules,
    start,

    /** Starts in the background. If it fails, the dispatcher does it later. */
    startSoon(recurring: RecurringCharge): void {
      const attempt = start(recurring)
        .catch((error: unknown) => {
          const which = { recurring: recurring._id };
          log.warn({ err: error, ...which }, 'schedule update failed, dispatcher will retry');
        })
        .finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    },

    /** Resolves when no start is in flight. */
    idle: async () => void (await Promise.all(underWay)),
  };
}
