import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import type { Charge } from '../src/capabilities/charges/charge.js';
import type {
  RenewalInput,
  RenewalResult,
} from '../src/capabilities/recurring-charges/workflow-contract.js';
import type { Schedules } from '../src/capabilities/recurring-charges/schedules.js';
import type { RecurringCharges } from '../src/capabilities/recurring-charges/store.js';

export type RecurringChargeActivityDeps = {
  recurringCharges: RecurringCharges;
  recurringStarter: { schedules: Schedules };
  chargeStarter: { start(charge: Charge): Promise<void> };
  charges: { get(tenantId: string, id: string): Promise<Charge | null> };
  log: Log;
};

/** A Schedule's clock may be ahead of ours: what begins within this is waited for. */
const SOON_MS = 60_000;
/** How long the order of one period may take to leave before the next period's is begun all the same. */
const SUBMITTED_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 50;

export function createRecurringChargeActivities(deps: RecurringChargeActivityDeps) {
  const { recurringCharges, recurringStarter, chargeStarter, log } = deps;
  return {
    /** Charges the next period if it is due, and starts its workflow. Repeatable: each period is charged once. */
    async chargeRecurringPeriod({ tenantId, id }: RenewalInput): Promise<RenewalResult> {
      failpoint('renewal.before');
      const renewal = await recurringCharges.renew(tenantId, id);
      if (!renewal) return { kind: 'done' };
      if (renewal.kind === 'overtaken') return { kind: 'again', charge: null, period: 0 };
      if (renewal.kind === 'not_due') {
        const { status, next_charge_at: nextAt } = renewal.recurring;
        const goesOn = status === 'active' || status === 'past_due';
        // A Schedule that should not have fired is put right.
        if (!goesOn) await recurringStarter.schedules.keep(renewal.recurring);
        const afterMs = goesOn && nextAt ? nextAt.getTime() - Date.now() : Infinity;
        return afterMs > SOON_MS
          ? { kind: 'done' }
          : { kind: 'soon', afterMs: Math.max(afterMs, 1) };
      }
      const { charge } = renewal;
      failpoint('renewal.charged');
      if (charge.status === 'pending') {
        await chargeStarter
          .start(charge)
          .then(() => waitUntilSubmitted(deps, charge))
          .catch((error: unknown) => {
            log.warn(
              { err: error, charge: charge._id },
              'charge start failed, dispatcher will retry',
            );
          });
      }
      return { kind: 'again', charge: charge._id, period: charge.recurring?.period ?? 0 };
    },
  };
}

/** The oldest first: the next period's order is not begun before this one has left, or takes too long for it. */
async function waitUntilSubmitted(
  { charges }: RecurringChargeActivityDeps,
  { tenant_id: tenantId, _id: id }: Charge,
) {
  const deadline = Date.now() + SUBMITTED_WITHIN_MS;
  while (Date.now() < deadline) {
    const present = await charges.get(tenantId, id);
    if (!present || present.status !== 'pending') return;
    await sleep(LOOK_EVERY_MS);
  }
}
