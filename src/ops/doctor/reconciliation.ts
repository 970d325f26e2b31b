import type { Db } from 'mongodb';
import type { ExpectedRun } from '../../composition/reconciliation.js';
import {
  createReconciliationRuns,
  type ScheduledRun,
} from '../../core/reconciliation/last-runs.js';
import { duration, examine, fail, pass, type Check } from './check.js';

const LATE =
  'docs/runbooks/reconciliation-missed.md: look at the Schedule and the run of each in the Temporal UI, and restart a worker';

const nameOf = ({ kind, provider }: ScheduledRun) =>
  provider === null ? kind : `${kind} at ${provider}`;

/** Reports scheduled comparisons of which no run has ended within twice the time between two starts. */
export const examineReconciliations = (
  db: Db,
  expected: readonly ExpectedRun[],
  now = new Date(),
): Promise<Check> =>
  examine('reconciliation: runs', 'the check reads the database', async () => {
    if (expected.length === 0) return pass('turned off');
    const found = await createReconciliationRuns(db).list(expected);
    const late = expected.flatMap((each) => {
      const last = found.find((run) => nameOf(run) === nameOf(each));
      // No worker of this configuration has started, or it could not note that.
      if (!last) return [`${nameOf(each)}: not scheduled`];
      const ageMs = now.getTime() - last.at.getTime();
      return ageMs > 2 * each.everyMs
        ? [`${nameOf(each)}: no run has ended for ${duration(ageMs)}`]
        : [];
    });
    return late.length > 0
      ? fail(late.join('; '), LATE)
      : pass(`${expected.length} comparisons, each with its last run`);
  });
