import type { GroupCommit } from '../core/commit/group-commit.js';
import { logAttention } from '../core/supervision/attention-log.js';
import type { Log } from '../shared/log.js';
import { logIdsOf } from './workflow-ids.js';

/** Logs a warning for each record on which a commit raises attention, and for each new reason. */
export function logRaisedAttention(groupCommit: Pick<GroupCommit, 'onChanged'>, log: Log): void {
  groupCommit.onChanged((changes) => {
    for (const { collection, before, after } of changes) {
      const reason = reasonIn(after);
      if (reason === null || reason === (before ? reasonIn(before) : null)) continue;
      logAttention(log, { ...logIdsOf(collection, after), reason });
    }
  });
}

/** The reason of a record's attention; null if it has none, or if records of its kind never have one. */
function reasonIn(record: object): string | null {
  const { attention } = record as { attention?: { reason?: unknown } | null };
  return typeof attention?.reason === 'string' ? attention.reason : null;
}
