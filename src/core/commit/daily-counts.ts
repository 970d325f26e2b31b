import type { AnyBulkWriteOperation, Db } from 'mongodb';
import type { Counter } from './counter.js';

/**
 * A change of the number of a tenant's records that were created on one UTC day and have one status. The totals of lists are
 * read from these counts, so that a long list costs no more than a short one. A change must be counted in a commit that
 * writes the wallet of its tenant.
 */
export type DailyChange = { tenantId: string; day: string; status: string; by: number };

type Counts = Record<string, bigint>;
/** The counts of one tenant and month by status. `_id` is `<tenant>/<YYYY-MM>`; keys of `days` are two digits. */
export type DailyCountsDocument = { _id: string; all: Counts; days: Record<string, Counts> };

/** The counts of the records of one collection. */
export type DailyCounts = ReturnType<typeof createDailyCounts>;

/** The UTC day of a time, `YYYY-MM-DD`. */
export const utcDay = (at: Date) => at.toISOString().slice(0, 10);

/** Adds changes up by tenant, day and status, and leaves out sums of zero. */
function sumChanges(changes: readonly DailyChange[]): DailyChange[] {
  const sums = new Map<string, DailyChange>();
  for (const change of changes) {
    const key = `${change.tenantId}/${change.day}/${change.status}`;
    sums.set(key, { ...change, by: (sums.get(key)?.by ?? 0) + change.by });
  }
  return [...sums.values()].filter(({ by }) => by !== 0);
}

function toUpdate({ tenantId, day, status, by }: DailyChange) {
  const change = BigInt(by);
  return {
    updateOne: {
      filter: { _id: `${tenantId}/${day.slice(0, 7)}` },
      update: {
        $inc: { [`all.${status}`]: change, [`days.${day.slice(8)}.${status}`]: change },
      },
      upsert: true,
    },
  } satisfies AnyBulkWriteOperation<DailyCountsDocument>;
}

/** Declares the counts of a collection, kept in the collection `name`. */
export function createDailyCounts(name: string) {
  const counter: Counter<DailyChange> = {
    name,
    validator: {
      bsonType: 'object',
      required: ['all', 'days'],
      properties: {
        all: { bsonType: 'object', additionalProperties: { bsonType: 'long', minimum: 0 } },
        days: { bsonType: 'object' },
      },
    },
    indexes: [],
    shardBy: '_id',
    sum: sumChanges,
    update: toUpdate as unknown as Counter<DailyChange>['update'],
  };

  /** The changes for a record that was created (`before` is null) or has another status than before. */
  function changesOf(
    record: { tenant_id: string; created_at: Date },
    before: string | null,
    after: string,
  ): DailyChange[] {
    if (before === after) return [];
    const of = { tenantId: record.tenant_id, day: utcDay(record.created_at) };
    const left = before === null ? [] : [{ ...of, status: before, by: -1 }];
    return [...left, { ...of, status: after, by: 1 }];
  }

  return { counter, changesOf, total: readTotal(name) };
}

/** The months of one tenant: '0' is the character after '/', and a month sorts before its days. */
const monthsOf = (tenantId: string, from?: string, until?: string) => ({
  $gte: `${tenantId}/${from?.slice(0, 7) ?? ''}`,
  $lt: until === undefined ? `${tenantId}0` : `${tenantId}/${until}`,
});

const readTotal =
  (name: string) =>
  /** The number of a tenant's records, of one status or of all, created from the day `from` until before `until`. */
  async (
    db: Db,
    tenantId: string,
    { status, from, until }: { status?: string; from?: string; until?: string },
  ): Promise<number> => {
    const whole = from === undefined && until === undefined;
    const months = await db
      .collection<DailyCountsDocument>(name)
      .find({ _id: monthsOf(tenantId, from, until) })
      .toArray();
    const counts = months.flatMap(({ _id, all, days }) => {
      if (whole) return [all];
      return Object.entries(days)
        .map(([day, each]) => ({ date: `${_id.slice(-7)}-${day}`, each }))
        .filter(({ date }) => (from ?? date) <= date && (until === undefined || date < until))
        .map(({ each }) => each);
    });
    const counted = (each: Counts) =>
      status === undefined ? Object.values(each) : [each[status] ?? 0n];
    return Number(counts.flatMap(counted).reduce((sum, one) => sum + one, 0n));
  };
