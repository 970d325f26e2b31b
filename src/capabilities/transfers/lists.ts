import { LIST_INDEXES } from './transfer.js';
import type { ClientSession, Collection, Db, Filter, Sort } from 'mongodb';
import { withSnapshot, type Database } from '../../platform/database/client.js';
import { countsOf, readCounts, utcDay, type DayRange } from './counts.js';
import type { Transfer, TransferStatus } from './transfer.js';

export type TransferListing = {
  page: number;
  limit: number;
  sort: { field: 'created_at' | 'amount_minor'; descending: boolean };
  status?: TransferStatus | undefined;
  reference?: string | undefined;
  /** Inclusive, the beginning of a UTC day. */
  from?: Date | undefined;
  /** Exclusive, the beginning of a UTC day. */
  until?: Date | undefined;
};

export const OPEN: TransferStatus[] = ['pending', 'processing'];
const BY_REFERENCE = { tenant_id: 1, reference: 1 } as const;

/** Lists whose first pages and totals cost the same however many transfers a tenant has. */
export function transferLists(database: Database) {
  const transfers = transfersOf(database.db);

  async function readPage(tenantId: string, query: TransferListing, hint: object) {
    const direction = query.sort.descending ? -1 : 1;
    const sort: Sort = { [query.sort.field]: direction, _id: direction };
    return transfers
      .find(listFilter(tenantId, query), { projection: { timeline: 0 }, hint })
      .sort(sort)
      .skip((query.page - 1) * query.limit)
      .limit(query.limit)
      .toArray();
  }

  return {
    async list(
      tenantId: string,
      query: TransferListing,
    ): Promise<{ items: Transfer[]; total: number }> {
      if (query.page === 1 && !isAmountInRange(query)) {
        const [items, total] = await Promise.all([
          readPage(tenantId, query, indexFor(query)),
          countTotal(database, tenantId, query),
        ]);
        return { items, total };
      }
      const total = await countTotal(database, tenantId, query);
      if ((query.page - 1) * query.limit >= total) return { items: [], total };
      const hint = await indexWithin(database, tenantId, query, total);
      return { items: await readPage(tenantId, query, hint), total };
    },
  };
}

const isAmountInRange = ({ sort, from, until }: TransferListing) =>
  sort.field === 'amount_minor' && (from ?? until) !== undefined;

/** The index that has the wanted order, or, where none has, the one that leaves least to be sorted. */
export function indexFor({ sort, status, reference }: TransferListing): object {
  if (reference !== undefined) return BY_REFERENCE;
  const isOpen = status !== undefined && OPEN.includes(status);
  if (sort.field === 'created_at' || isOpen) {
    return status ? LIST_INDEXES.byStatus : LIST_INDEXES.byCreation;
  }
  return status ? LIST_INDEXES.byStatusAndAmount : LIST_INDEXES.byAmount;
}

/**
 * By amount within some days: no index has that order. A few days are read and sorted; of many days the order by
 * amount is followed until the page is full. What each costs follows from how many there are.
 */
async function indexWithin(
  database: Database,
  tenantId: string,
  query: TransferListing,
  within: number,
): Promise<object> {
  if (!isAmountInRange(query)) return indexFor(query);
  const all = await countTotal(database, tenantId, {
    ...query,
    from: undefined,
    until: undefined,
  });
  const followed = (query.page * query.limit * all) / within;
  return indexFor(
    within < followed ? { ...query, sort: { ...query.sort, field: 'created_at' } } : query,
  );
}

/** How many there are, without looking at them: from the counts, and from what is open, which is few. */
async function countTotal(
  database: Database,
  tenantId: string,
  query: TransferListing,
): Promise<number> {
  const { status, reference, from, until } = query;
  const days: DayRange = { from: from && utcDay(from), until: until && utcDay(until) };
  const transfers = transfersOf(database.db);
  const counts = countsOf(database.db);
  const countOpen = (
    of: Collection<Transfer>,
    statuses: TransferStatus[],
    session?: ClientSession,
  ) =>
    of.countDocuments(
      { ...listFilter(tenantId, query), status: { $in: statuses } },
      { hint: LIST_INDEXES.byStatus, ...(session && { session }) },
    );

  if (reference !== undefined) {
    return transfers.countDocuments(listFilter(tenantId, query), { hint: BY_REFERENCE });
  }
  if (status === undefined) return (await readCounts(counts, tenantId, days)).created;
  if (status === 'failed') return (await readCounts(counts, tenantId, days)).failed;
  if (status !== 'completed') return countOpen(transfers, [status]);
  // Both as of one moment: between two moments a transfer could be counted twice, or not at all.
  return withSnapshot(database, async (db, session) => {
    const open = await countOpen(transfersOf(db), OPEN, session);
    const { created, failed } = await readCounts(countsOf(db), tenantId, days, session);
    return created - failed - open;
  });
}

const transfersOf = (db: Db) => db.collection<Transfer>('transfers');

function listFilter(tenantId: string, query: TransferListing): Filter<Transfer> {
  const { status, reference, from, until } = query;
  return {
    tenant_id: tenantId,
    ...(status && { status }),
    ...(reference !== undefined && { reference }),
    ...((from ?? until) && {
      created_at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
    }),
  };
}
