import { ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import type { Db } from 'mongodb';
import { keepSchedule, triggerSchedule } from '../../platform/temporal/schedules.js';
import type { Config } from '../../shared/config.js';
import { DAY_MS } from '../../shared/durations.js';
import type { Log } from '../../shared/log.js';
import { CHAIN_START, type AuditEntry, type ChainEnd, type ChainProblem } from './entry.js';
import { auditEndCollection, auditLogCollection, type Audit } from './store.js';
import { auditVerificationId, type AuditVerification } from './workflow-contract.js';

/** The last verification, beside the end of the chain. `sequence` and `hash` are the last end that had no problem before it. */
type VerificationDocument = ChainEnd & {
  _id: 'verified';
  /** Before the first run: when its Schedule was made. */
  ended_at: Date;
  problems: readonly ChainProblem[];
};

/** Problems that are stored; a broken chain may have one for each entry. */
const MAX_STORED = 10;

const notesOf = (db: Db) => db.collection<VerificationDocument>(auditEndCollection.name);

/** The last verification of any process; null before the first worker has started. */
export const lastVerification = (db: Db): Promise<VerificationDocument | null> =>
  notesOf(db).findOne({ _id: 'verified' });

/** The daily verification of the audit log. */
export type AuditVerifications = ReturnType<typeof createAuditVerifications>;

/** Creates the daily verification. */
export function createAuditVerifications({
  db,
  audit,
  client,
  config: {
    temporal: { taskQueue },
  },
  log,
}: {
  db: Db;
  audit: Pick<Audit, 'verify'>;
  client: Client;
  config: Pick<Config, 'temporal'>;
  log: Log;
}) {
  /** A chain that was written anew has no problem in itself, but another hash where an earlier run has ended. */
  async function problemsSince(earlier: ChainEnd): Promise<ChainProblem[]> {
    const { sequence, hash } = earlier;
    if (sequence === 0) return [];
    const entries = db.collection<AuditEntry>(auditLogCollection.name);
    const found = await entries.findOne({ _id: sequence }, { projection: { hash: 1 } });
    if (found?.hash === hash) return [];
    return [{ sequence, problem: 'entry is not the one of the last verification' }];
  }

  return {
    /**
     * Makes the Schedule, and counts the time without a run from now if there was none. A run that is late, such as after the
     * restore of an old backup, starts now, because the Schedule alone may need another day.
     */
    async keepSchedule(): Promise<void> {
      const id = auditVerificationId(taskQueue);
      const first = { ...CHAIN_START, ended_at: new Date(), problems: [] };
      await notesOf(db).updateOne({ _id: 'verified' }, { $setOnInsert: first }, { upsert: true });
      await keepSchedule(client, id, {
        spec: { intervals: [{ every: DAY_MS }] },
        action: {
          type: 'startWorkflow',
          workflowType: 'auditVerification',
          workflowId: id,
          taskQueue,
          args: [],
          staticSummary: 'follows the chain of the audit log',
        },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: DAY_MS },
      });
      const last = await lastVerification(db);
      if (last && Date.now() - last.ended_at.getTime() > DAY_MS) await triggerSchedule(client, id);
    },

    /** Follows the whole chain, and notes the result for `bursar doctor`. It may be repeated. */
    async run(): Promise<AuditVerification> {
      const earlier = (await lastVerification(db)) ?? CHAIN_START;
      const { end, problems: found } = await audit.verify();
      const problems = [...found, ...(await problemsSince(earlier))];
      const ok = problems.length === 0;
      const { sequence, hash } = ok ? end : earlier;
      const note = {
        sequence,
        hash,
        ended_at: new Date(),
        problems: problems.slice(0, MAX_STORED),
      };
      await notesOf(db).updateOne({ _id: 'verified' }, { $set: note }, { upsert: true });
      if (!ok) log.error({ problems: note.problems }, 'the chain of the audit log is broken');
      // Outside of the database, the log and the workflow's history keep a hash to compare with.
      log.info({ sequence, hash }, 'the chain of the audit log is verified up to here');
      return { entries: end.sequence, problems: problems.length, sequence, hash };
    },
  };
}
