import type { Db } from 'mongodb';
import type { CollectionSpec } from '../../platform/database/migrations.js';

/** A comparison that a Schedule starts: of a kind of record, with one provider or (null) with all of them. */
export type ScheduledRun = { kind: string; provider: string | null };

/** The last run of a scheduled comparison. `_id` is `<kind>`, or `<kind>/<provider>`. */
export type LastRunDocument = ScheduledRun & {
  _id: string;
  /** The time since which runs are expected: the first start of a worker with the comparison turned on. Null while it is off. */
  expected_since: Date | null;
  /** The end of the last run; null before the first. */
  ended_at: Date | null;
};

/** A comparison, and the time of its last sign of life: the end of a run, or the time since which one is expected. */
export type LastRun = ScheduledRun & { at: Date };

const dateOrNull = { bsonType: ['date', 'null'] };

/** The last run of each scheduled comparison. */
export const lastRunsCollection: CollectionSpec = {
  name: 'reconciliation_runs',
  validator: {
    bsonType: 'object',
    required: ['kind', 'provider', 'expected_since', 'ended_at'],
    properties: {
      kind: { bsonType: 'string' },
      provider: { bsonType: ['string', 'null'] },
      expected_since: dateOrNull,
      ended_at: dateOrNull,
    },
  },
  indexes: [],
  shardBy: null,
};

const idOf = ({ kind, provider }: ScheduledRun) =>
  provider === null ? kind : `${kind}/${provider}`;

/** The last runs of the scheduled comparisons. */
export type ReconciliationRuns = ReturnType<typeof createReconciliationRuns>;

/** Creates the store of the last runs. */
export function createReconciliationRuns(db: Db, clock: () => Date = () => new Date()) {
  const runs = db.collection<LastRunDocument>(lastRunsCollection.name);
  return {
    /** Expects runs of these comparisons from now on, if they were not expected before, and no runs of the others. */
    async expect(expected: readonly ScheduledRun[]): Promise<void> {
      const ids = expected.map(idOf);
      await runs.updateMany({ _id: { $nin: ids } }, { $set: { expected_since: null } });
      for (const run of expected) {
        const since = { $ifNull: ['$expected_since', clock()] };
        const ended = { $ifNull: ['$ended_at', null] };
        const set = { ...run, expected_since: since, ended_at: ended };
        await runs.updateOne({ _id: idOf(run) }, [{ $set: set }], { upsert: true });
      }
    },

    /** Notes that a run has ended. */
    async noteEnd(run: ScheduledRun): Promise<void> {
      await runs.updateOne(
        { _id: idOf(run) },
        { $set: { ended_at: clock() }, $setOnInsert: { ...run, expected_since: null } },
        { upsert: true },
      );
    },

    /** Those of these comparisons of which runs are expected, each with its last sign of life. */
    async list(expected: readonly ScheduledRun[]): Promise<LastRun[]> {
      const filter = { _id: { $in: expected.map(idOf) }, expected_since: { $ne: null } };
      const found = await runs.find(filter).sort({ _id: 1 }).toArray();
      return found.flatMap(({ kind, provider, expected_since: since, ended_at: ended }) =>
        since === null ? [] : [{ kind, provider, at: ended && ended > since ? ended : since }],
      );
    },
  };
}
