import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../src/failpoints.js';
import type { Log } from '../src/log.js';
import type { Charge } from '../src/payments/charges/charge.js';
import type { RenewalInput, RenewalReport } from '../src/payments/recurring/reports.js';
import type { Schedules } from '../src/payments/recurring/schedules.js';
import type { RecurringCharges } from '../src/payments/recurring/store.js';

export type RenewalActivityDeps = {
  recurringCharges: RecurringCharges;
  recurringStarter: { schedules: Schedules };
  chargeStarter: { start(charge: Charge): Promise<void> };
  charges: { get(tenant: string, id: string): Promise<Charge | null> };
  log: Log;
};

/** A Schedule's clock may be ahead of ours: what begins within this is waited for. */
const SOON_MS = 60_000;
/** How long the order of one period may take to leave before the next period's is begun all the same. */
const LEAVES_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 50;

export function createRenewalActivities(deps: RenewalActivityDeps) {
  const { recurringCharges, recurringStarter, chargeStarter, log } = deps;
  return {
    /** Charges the next period if it is due, and starts its workflow. Repeatable: each period is charged once. */
    async renewPeriod({ tenant, id }: RenewalInput): Promise<RenewalReport> {
      failpoint('renewal.before');
      const renewal = await recurringCharges.renew(tenant, id);
      if (!renewal) return { kind: 'done' };
      if (renewal.kind === 'overtaken') return { kind: 'again', charge: null, period: 0 };
      if (renewal.kind === 'not_due') {
        const { status, next_at: nextAt } = renewal.recurring;
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
          .then(() => untilLeft(deps, charge))
          .catch((error: unknown) => {
            log.warn(
              { err: error, charge: charge._id },
              'charge not started, left to the dispatcher',
            );
          });
      }
      return { kind: 'again', charge: charge._id, period: charge.recurring?.period ?? 0 };
    },
  };
}

/** The oldest first: the next period's order is not begun before this one has left, or takes too long for it. */
async function untilLeft({ charges }: RenewalActivityDeps, { tenant, _id: id }: Charge) {
  const deadline = Date.now() + LEAVES_WITHIN_MS;
  while (Date.now() < deadline) {
    const present = await charges.get(tenant, id);
    if (!present || present.status !== 'pending') return;
    await sleep(LOOK_EVERY_MS);
  }
}
