import type { Db } from 'mongodb';
import { lastVerification } from '../../core/audit/verification.js';
import { DAY_MS } from '../../shared/durations.js';
import { duration, examine, fail, pass, type Check } from './check.js';

/** A Schedule starts a verification every day. */
const LATE_MS = 2 * DAY_MS;

const BROKEN =
  'run bursar audit verify, and compare with an export that is kept elsewhere: somebody has written to the database beside the service';
const LATE =
  'look at the Schedule audit-verification/<task queue> in the Temporal UI: unpause it, or restart a worker';

/** Reports the last daily verification of the audit log. */
export const examineAuditLog = (db: Db, now = new Date()): Promise<Check> =>
  examine('audit log', 'the check reads the database', async () => {
    const last = await lastVerification(db);
    if (!last) return pass('no worker has started yet');
    const [first] = last.problems;
    if (first) return fail(`${first.problem}, number ${first.sequence}`, BROKEN);
    const ageMs = now.getTime() - last.ended_at.getTime();
    if (ageMs > LATE_MS) return fail(`not verified for ${duration(ageMs)}`, LATE);
    return pass(
      last.sequence === 0 ? 'no entry is verified yet' : `verified up to entry ${last.sequence}`,
    );
  });
