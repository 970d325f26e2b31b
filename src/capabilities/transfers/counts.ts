import type { ClientSession, Collection, Db } from 'mongodb';
import { utcDay } from '../../core/commit/daily-counts.js';
import { withSnapshot, type Database } from '../../platform/database/client.js';
import {
  BY_REFERENCE,
  LIST_INDEXES,
  listFilter,
  OPEN,
  type Listing,
} from '../../core/instructions/listing.js';
import {
  countUpdate,
  transferMonthlyCounts,
  type CountChange,
  type Counts,
  type CountsDocument,
  type Transfer,
  type TransferStatus,
} from './record.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';

/** Returns the collection of monthly counts. */
export const countsOf = (db: Db) => db.collection<CountsDocument>(transferMonthlyCounts.name);

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
