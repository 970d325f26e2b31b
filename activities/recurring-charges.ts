import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import type { Charge } from '../src/capabilities/charges/record.js';
import type {
  RenewalInput,
  RenewalResult,
} from '../src/capabilities/recurring-charges/workflow-contract.js';
import { type Schedules } from '../src/capabilities/recurring-charges/workflow-starter.js';
import type { RecurringCharges } from '../src/capabilities/recurring-charges/store.js';
import { logIds } from './log-ids.js';

/** Parts that the activity of recurring charges needs. */
export type RecurringChargeActivityDeps = {
  recurringCharges: { store: RecurringCharges; starter: { schedules: Schedules } };
  charges: {
    store: { get(tenantId: string, id: string): Promise<Charge | null> };
    starter: { start(charge: Charge): Promise<void> };
  };
  log: Log;
};

/** The Schedule's clock may be ahead of ours: a period that begins within this time is awaited. */
const SOON_MS = 60_000;
/** Limit of the wait for a charge to be submitted before the next period is charged. */
const SUBMITTED_WITHIN_MS = 3_000;
const CHECK_EVERY_MS = 50;

/** The activity of recurring charges. Its name is in histories, so it never changes. */
export function createRecurringChargeActivities(deps: RecurringChargeActivityDeps) {
  const { charges, log } = deps;
  const { store: recurringCharges, starter } = deps.recurringCharges;
  return {
    /** Charges the next period if it is due, and starts the charge's workflow. Repeatable: a period is charged once. */
    async chargeRecurringPeriod({ tenantId, id }: RenewalInput): Promise<RenewalResult> {
      failpoint('renewal.before');
      const renewal = await recurringCharges.renew(tenantId, id);
      // The dispatcher starts the renewal again, because the record stays due.
      if (!renewal || renewal.kind === 'frozen') return { kind: 'done' };
      if (renewal.kind === 'overtaken') return { kind: 'repeat', chargeId: null, period: 0 };
      if (renewal.kind === 'not_due') {
        const { status, next_charge_at: nextAt } = renewal.recurring;
        const isRunning = status === 'active' || status === 'past_due';
        // The Schedule should not have fired, so it is brought in line with the record.
        if (!isRunning) await starter.schedules.keep(renewal.recurring);
        const afterMs = isRunning && nextAt ? nextAt.getTime() - Date.now() : Infinity;
        return afterMs > SOON_MS
          ? { kind: 'done' }
          : { kind: 'soon', afterMs: Math.max(afterMs, 1) };
      }
      const { charge } = renewal;
      failpoint('renewal.charged');
      if (charge.status === 'pending') {
        await charges.starter
          .start(charge)
          .then(() => waitUntilSubmitted(deps, charge))
          .catch((error: unknown) => {
            log.warn(
              { err: error, ...logIds({ tenantId, id: charge._id }) },
              'charge start failed, dispatcher will retry',
            );
          });
      }
      return { kind: 'repeat', chargeId: charge._id, period: charge.recurring?.period ?? 0 };
    },
  };
}

/** Waits until the charge was submitted or the limit is over, so that the oldest period is submitted first. */
async function waitUntilSubmitted(
  { charges }: RecurringChargeActivityDeps,
  { tenant_id: tenantId, _id: id }: Charge,
) {
  const deadline = Date.now() + SUBMITTED_WITHIN_MS;
  while (Date.now() < deadline) {
    const present = await charges.store.get(tenantId, id);
    if (!present || present.status !== 'pending') return;
    await sleep(CHECK_EVERY_MS);
  }
}
