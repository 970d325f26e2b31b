import type { AnyBulkWriteOperation, Db } from 'mongodb';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { DAY_MS, HOUR_MS } from '../../shared/durations.js';
import { CUSTOMER_INDEXES, type Customer } from './record.js';

/**
 * The numbers of customers by day of their creation. A customer stays, so the number of a day that is over never changes: it is
 * counted once, by the first list that needs it, and commits count nothing. `_id` is `<tenant>/<YYYY-MM>`; keys of `days` are two
 * digits. The last counted day is there even if nobody was created on it.
 */
type Month = { _id: string; days: Record<string, bigint> };

/** The collection of the counts. */
export const customerCounts: CollectionSpec = {
  name: 'customer_counts',
  validator: {
    bsonType: 'object',
    required: ['days'],
    properties: {
      days: { bsonType: 'object', additionalProperties: { bsonType: 'long', minimum: 0 } },
    },
  },
  indexes: [],
  shardBy: '_id',
};

/** A commit that began on a day may end after it, and clocks differ, so a day is counted this long after its end. */
const COUNTED_AFTER_MS = HOUR_MS;

type Range = { from?: Date | undefined; until?: Date | undefined };

/** The number of a tenant's customers that were created in these days. Its cost grows with months, and with the present day. */
export async function countCustomers(
  db: Db,
  tenantId: string,
  { from, until }: Range,
  now: Date,
): Promise<number> {
  const { closed, open } = await closedDays(db, tenantId, dayOf(now.getTime() - COUNTED_AFTER_MS));
  const counted = [...closed]
    .filter(([day]) => isWithin(new Date(day), { from, until }))
    .reduce((sum, [, count]) => sum + Number(count), 0);
  const since = from && from > open ? from : open;
  if (until && until <= since) return counted;
  const latest = { tenant_id: tenantId, created_at: { $gte: since, ...(until && { $lt: until }) } };
  const options = { hint: CUSTOMER_INDEXES.byCreation };
  return counted + (await db.collection<Customer>('customers').countDocuments(latest, options));
}

const isWithin = (day: Date, { from, until }: Range): boolean =>
  (!from || day >= from) && (!until || day < until);

/** The beginning of a UTC day. */
const dayOf = (at: number): Date => new Date(Math.floor(at / DAY_MS) * DAY_MS);
const textOf = (day: Date): string => day.toISOString().slice(0, 10);

/** The counts of the closed days of a tenant, and the first day that is still open. */
type ClosedDays = { closed: Map<string, bigint>; open: Date };

/**
 * The counts of all days before `until` at least: another process, whose clock is ahead, may have counted a day more. Days that
 * were not counted before are, and are stored.
 */
async function closedDays(db: Db, tenantId: string, until: Date): Promise<ClosedDays> {
  const months = db.collection<Month>(customerCounts.name);
  const stored = await months
    .find({ _id: { $gte: `${tenantId}/`, $lt: `${tenantId}0` } })
    .toArray();
  const closed = new Map(
    stored.flatMap(({ _id, days }) =>
      Object.entries(days).map(([day, count]) => [`${_id.slice(-7)}-${day}`, count] as const),
    ),
  );
  const last = [...closed.keys()].toSorted().at(-1);
  const since = last === undefined ? null : new Date(Date.parse(last) + DAY_MS);
  if (since !== null && since >= until) return { closed, open: since };
  const found = await countDays(db, tenantId, since, until);
  const lastClosed = textOf(new Date(until.getTime() - DAY_MS));
  if (!found.has(lastClosed)) found.set(lastClosed, 0n);
  // Oldest first: after a death in between, what is stored has no gap.
  await months.bulkWrite(storing(tenantId, found), { ordered: true });
  return { closed: new Map([...closed, ...found]), open: until };
}

/** Counts the customers of each day on the index. Two processes that count a day at once find the same number. */
async function countDays(
  db: Db,
  tenantId: string,
  since: Date | null,
  until: Date,
): Promise<Map<string, bigint>> {
  const groups = db.collection<Customer>('customers').aggregate<{ _id: string; count: number }>(
    [
      {
        $match: { tenant_id: tenantId, created_at: { ...(since && { $gte: since }), $lt: until } },
      },
      {
        $group: {
          _id: { $dateToString: { date: '$created_at', format: '%Y-%m-%d' } },
          count: { $sum: 1 },
        },
      },
    ],
    { hint: CUSTOMER_INDEXES.byCreation },
  );
  const found = (await groups.toArray()).map(({ _id, count }) => [_id, BigInt(count)] as const);
  return new Map(found);
}

function storing(
  tenantId: string,
  days: ReadonlyMap<string, bigint>,
): AnyBulkWriteOperation<Month>[] {
  const byMonth = new Map<string, Record<string, bigint>>();
  for (const [day, count] of [...days].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const month = byMonth.get(day.slice(0, 7)) ?? {};
    byMonth.set(day.slice(0, 7), { ...month, [`days.${day.slice(8)}`]: count });
  }
  return [...byMonth].map(([month, set]) => ({
    updateOne: { filter: { _id: `${tenantId}/${month}` }, update: { $set: set }, upsert: true },
  }));
}
