import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import type { Counter } from '../../core/commit/counter.js';
import { withSnapshot, type Database } from '../../platform/database/client.js';
import {
  BY_REFERENCE,
  LIST_INDEXES,
  listFilter,
  OPEN,
  type Listing,
} from '../../core/instructions/listing.js';
import type { Transfer, TransferStatus } from './record.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';

/**
 * A change of the number of created and failed transfers of a tenant on one UTC day of creation. The totals of lists
 * are read from these counts. Only changes that also write the wallet are counted, so that counting causes no conflict
 * between commits. Open transfers are counted when they are listed; the others are completed.
 */
export type CountChange = { tenantId: string; day: string; created: number; failed: number };

/** Returns the UTC day of a time, `YYYY-MM-DD`. */
const utcDay = (at: Date) => at.toISOString().slice(0, 10);

/** Returns the change of the counts after a transfer was created (`before` is null) or changed, or null. */
export function countChange(before: Transfer | null, after: Transfer): CountChange | null {
  const created = before === null ? 1 : 0;
  const failed = Number(after.status === 'failed') - Number(before?.status === 'failed');
  if (created === 0 && failed === 0) return null;
  return { tenantId: after.tenant_id, day: utcDay(after.created_at), created, failed };
}

/** The change of the counts when a transfer is removed. */
export const uncount = ({
  tenant_id: tenantId,
  created_at: at,
  status,
}: Transfer): CountChange => ({
  tenantId,
  day: utcDay(at),
  created: -1,
  failed: status === 'failed' ? -1 : 0,
});

/** Adds the changes of one commit up by tenant and day. Omits the sums that are zero. */
export function sumChanges(changes: readonly CountChange[]): CountChange[] {
  const sums = new Map<string, CountChange>();
  for (const change of changes) {
    const key = `${change.tenantId}/${change.day}`;
    const sum = sums.get(key) ?? { ...change, created: 0, failed: 0 };
    const { created, failed } = change;
    sums.set(key, { ...sum, created: sum.created + created, failed: sum.failed + failed });
  }
  return [...sums.values()].filter((sum) => sum.created !== 0 || sum.failed !== 0);
}

type Counts = { created: bigint; failed: bigint };
/** The counts of a tenant in one month. `_id` is `<tenant>/<YYYY-MM>`; keys of `days` are two digits. */
export type CountsDocument = Counts & { _id: string; days: Record<string, Counts> };

const long = { bsonType: 'long' };

/** The collection of monthly counts. A commit writes it in the transaction that writes the transfers. */
export const transferMonthlyCounts: Counter<CountChange> = {
  name: 'transfer_monthly_counts',
  validator: {
    bsonType: 'object',
    required: ['created', 'failed', 'days'],
    properties: {
      created: { ...long, minimum: 0 },
      failed: { ...long, minimum: 0 },
      days: { bsonType: 'object' },
    },
  },
  indexes: [],
  shardBy: '_id',
  sum: sumChanges,
  update: countUpdate as Counter<CountChange>['update'],
};

/** Returns the collection of monthly counts. */
export const countsOf = (db: Db) => db.collection<CountsDocument>('transfer_monthly_counts');

function countUpdate(change: CountChange): AnyBulkWriteOperation<CountsDocument> {
  const [created, failed] = [BigInt(change.created), BigInt(change.failed)];
  const day = `days.${change.day.slice(8)}`;
  return {
    updateOne: {
      filter: { _id: `${change.tenantId}/${change.day.slice(0, 7)}` },
      update: { $inc: { created, failed, [`${day}.created`]: created, [`${day}.failed`]: failed } },
      upsert: true,
    },
  };
}

/** A range of UTC days. `from` is included, `until` is not; without them the range is open. */
type DayRange = { from?: string | undefined; until?: string | undefined };

/** Returns the created and failed transfers of a tenant. The cost grows with months, not with transfers. */
async function readCounts(
  collection: Collection<CountsDocument>,
  tenantId: string,
  { from, until }: DayRange,
  session?: ClientSession,
): Promise<{ created: number; failed: number }> {
  const all = from === undefined && until === undefined;
  // '0' is the character after '/', so the range holds every month of this tenant only. A month sorts before its days.
  const months = {
    $gte: `${tenantId}/${from?.slice(0, 7) ?? ''}`,
    $lt: until === undefined ? `${tenantId}0` : `${tenantId}/${until}`,
  };
  const projection = { created: 1, failed: 1, ...(!all && { days: 1 }) };
  const options = { projection, ...(session && { session }) };
  const sum = { created: 0, failed: 0 };
  for (const month of await collection.find({ _id: months }, options).toArray()) {
    for (const { created, failed } of all ? [month] : daysWithin(month, { from, until })) {
      sum.created += Number(created);
      sum.failed += Number(failed);
    }
  }
  return sum;
}

function daysWithin({ _id, days }: CountsDocument, { from, until }: DayRange): Counts[] {
  const month = _id.slice(-7);
  return Object.entries(days)
    .filter(([day]) => {
      const date = `${month}-${day}`;
      return (from === undefined || date >= from) && (until === undefined || date < until);
    })
    .map(([, counts]) => counts);
}

/**
 * Returns the total of a list without reading its records: from the counts, and from the open transfers, which are few.
 */
export async function countTotal(
  database: Database,
  tenantId: string,
  query: Listing,
): Promise<number> {
  const { status, reference, from, until } = query;
  const days: DayRange = { from: from && utcDay(from), until: until && utcDay(until) };
  const transfers = database.db.collection<Transfer>('transfers');
  const monthly = countsOf(database.db);
  const countOpen = (
    of: Collection<Transfer>,
    statuses: TransferStatus[],
    session?: ClientSession,
  ) =>
    of.countDocuments(
      { ...listFilter<Transfer>(tenantId, query), status: { $in: statuses } },
      { hint: LIST_INDEXES.byStatus, ...(session && { session }) },
    );

  if (reference !== undefined) {
    return transfers.countDocuments(listFilter<Transfer>(tenantId, query), { hint: BY_REFERENCE });
  }
  if (status === undefined) return (await readCounts(monthly, tenantId, days)).created;
  if (status === 'failed') return (await readCounts(monthly, tenantId, days)).failed;
  if (status !== 'completed') return countOpen(transfers, [status]);
  // One snapshot for both reads: a transfer that ends between two reads would count twice, or not at all.
  return withSnapshot(database, async (db, session) => {
    const open = await countOpen(db.collection<Transfer>('transfers'), OPEN, session);
    const { created, failed } = await readCounts(countsOf(db), tenantId, days, session);
    return created - failed - open;
  });
}

/** Computes the counts from the records. Reads every transfer. */
async function countRecords(db: Db): Promise<CountChange[]> {
  const groups = db.collection<Transfer>('transfers').aggregate<{
    _id: { tenantId: string; day: string };
    created: number;
    failed: number;
  }>(
    [
      {
        $group: {
          _id: {
            tenantId: '$tenant_id',
            day: { $dateToString: { date: '$created_at', format: '%Y-%m-%d' } },
          },
          created: { $sum: 1 },
          failed: { $sum: { $cond: [{ $eq: ['$status', 'failed'] }, 1, 0] } },
        },
      },
    ],
    acrossTenants('report'),
  );
  return (await groups.toArray()).map(({ _id, created, failed }) => ({ ..._id, created, failed }));
}

/** Replaces all counts by those of the records. The result is right only if no transfer is written meanwhile. */
export async function rebuildCounts(db: Db): Promise<void> {
  const counts = countsOf(db);
  await counts.deleteMany({}, acrossTenants('report'));
  const writes = (await countRecords(db)).map(countUpdate);
  for (let at = 0; at < writes.length; at += 1_000) {
    await counts.bulkWrite(writes.slice(at, at + 1_000), { ordered: false });
  }
}
