import type { Collection, Filter, Sort } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { sealAhead } from '../../platform/sealing/sealed-database.js';
import {
  applyTransferFact,
  grantTransferPermit,
  type ApplyTransferFactResult,
} from './mutations.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import { type InstructionRecord, timelineEntry } from '../../core/instructions/instruction.js';
import type { TransferFact } from './transitions.js';
import { countTotal } from './counts.js';
import {
  indexFor,
  LIST_INDEXES,
  listFilter,
  type Listing,
} from '../../core/instructions/listing.js';
import type { Transfer, TransferStatus } from './record.js';

/** The store of transfers. */
export type Transfers = ReturnType<typeof createTransfers>;

/**
 * Creates the store of transfers. Only `accept`, `applyFact` and the submit permit change money, status and events.
 * The other writes record the progress of an attempt and the time of the next check.
 */
export function createTransfers(
  { client, db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<Transfer>('transfers');

  return {
    ...transferQueries(collection),
    ...comparedTransfers(collection),
    ...transferLists({ client, db }),
    ...createInstructionStore<Transfer>({
      collection: db.collection<InstructionRecord>('transfers'),
      clock,
      stallTimeoutMs,
      eventfulPermit: {
        hasSubscribers: (tenantId) => groupCommit.hasSubscribers(tenantId),
        grantPermit: async (tenantId, id, request) =>
          (await groupCommit.commit(grantTransferPermit, { tenantId, id, request })).transfer,
      },
    }),

    /** Seals a new transfer before the commit that inserts it, which then holds its wallet for a shorter time. */
    sealAhead: (transfer: Transfer) => sealAhead(collection, transfer),

    /** Sets the next check of open transfers to now, so that the dispatcher starts a workflow for each. */
    async scheduleOwnWorkflows(tenantId: string, ids: string[]) {
      const now = clock();
      await collection.updateMany(
        { _id: { $in: ids }, tenant_id: tenantId, next_check_at: { $type: 'date' } },
        { $set: { next_check_at: now }, $inc: { version: 1 } },
      );
    },

    /** Writes the recipient's name that a name enquiry found after acceptance. Never replaces a name. */
    async nameRecipient(tenantId: string, id: string, found: { name: string; bank: string }) {
      const filter = { _id: id, tenant_id: tenantId, 'recipient.name': null } as Filter<Transfer>;
      await collection.updateOne(filter, {
        $set: {
          'recipient.name': found.name,
          'recipient.bank': found.bank,
          updated_at: clock(),
        },
        $inc: { version: 1 },
      });
    },

    /**
     * Raises attention on a completed transfer that its provider does not confirm. Existing attention is kept. The
     * dispatcher starts the workflow, which waits for an operator. Returns false if nothing was raised.
     */
    async raiseDifference(tenantId: string, id: string, reason: string): Promise<boolean> {
      const now = clock();
      const { modifiedCount } = await collection.updateOne(
        { _id: id, tenant_id: tenantId, status: 'completed', attention: null },
        {
          $set: { attention: { since: now, reason }, updated_at: now, next_check_at: now },
          $inc: { version: 1 },
          $push: { timeline: timelineEntry(now, 'attention_raised', 'bursar', { detail: reason }) },
        },
      );
      return modifiedCount > 0;
    },

    /** Applies a fact by the rules of the transition. Returns the verdict and the transfer afterwards. */
    applyFact: (
      tenantId: string,
      id: string,
      fact: TransferFact,
    ): Promise<ApplyTransferFactResult> =>
      groupCommit.commit(applyTransferFact, { tenantId, id, fact }),
  };
}

/** Returns true for a page that is sorted by amount within a range of days. No index has that sort order. */
const isAmountInRange = ({ sort, from, until }: Listing) =>
  sort.field === 'amount_minor' && (from ?? until) !== undefined;

/** Lists of transfers. The cost of first pages and totals does not grow with a tenant's transfers. */
function transferLists(database: Database) {
  const transfers = database.db.collection<Transfer>('transfers');

  async function readPage(tenantId: string, query: Listing, hint: object) {
    const direction = query.sort.descending ? -1 : 1;
    const sort: Sort = { [query.sort.field]: direction, _id: direction };
    return transfers
      .find(listFilter<Transfer>(tenantId, query), { projection: { timeline: 0 }, hint })
      .sort(sort)
      .skip((query.page - 1) * query.limit)
      .limit(query.limit)
      .toArray();
  }

  return {
    async list(tenantId: string, query: Listing): Promise<{ items: Transfer[]; total: number }> {
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

/**
 * Returns the index for a list by amount within a range of days. No index has that order. Either all transfers of the
 * range are read and sorted, or the index by amount is scanned until the page is full. The smaller estimate wins.
 */
async function indexWithin(
  database: Database,
  tenantId: string,
  query: Listing,
  within: number,
): Promise<object> {
  if (!isAmountInRange(query)) return indexFor(query);
  const all = await countTotal(database, tenantId, {
    ...query,
    from: undefined,
    until: undefined,
  });
  const scanned = (query.page * query.limit * all) / within;
  return indexFor(
    within < scanned ? { ...query, sort: { ...query.sort, field: 'created_at' } } : query,
  );
}

/** The fields of a transfer that reconciliation compares with the provider. */
export type Reconcilable = Pick<
  Transfer,
  | '_id'
  | 'tenant_id'
  | 'provider'
  | 'handle'
  | 'void_handles'
  | 'status'
  | 'amount_minor'
  | 'settled_amount_minor'
  | 'provider_fee_minor'
  | 'in_suspense'
  | 'reversed_at'
  | 'monitor_until'
  | 'created_at'
  | 'updated_at'
>;

const RECONCILABLE = {
  tenant_id: 1,
  provider: 1,
  handle: 1,
  void_handles: 1,
  status: 1,
  amount_minor: 1,
  settled_amount_minor: 1,
  provider_fee_minor: 1,
  in_suspense: 1,
  reversed_at: 1,
  monitor_until: 1,
  created_at: 1,
  updated_at: 1,
} as const satisfies Record<Exclude<keyof Reconcilable, '_id'>, 1>;

type OpenBefore = {
  tenantId: string;
  status: TransferStatus;
  before: string;
  after: Reconcilable | undefined;
};

/** Transfers that one read passes over: their ids alone are some megabytes of an index. */
const MOST_PASSED = 50_000;

/** Queries of operators and the worker. Those without a tenant must not serve a client's request. */
function transferQueries(collection: Collection<Transfer>) {
  return {
    /** Those of the references that a transfer of the tenant has. */
    async takenReferences(tenantId: string, references: string[]): Promise<string[]> {
      const taken = { tenant_id: tenantId, reference: { $in: references } };
      const found = collection.find(taken, { projection: { _id: 0, reference: 1 } });
      return (await found.toArray()).map(({ reference }) => reference);
    },

    /** Finds a transfer by id alone, because a provider event does not name a tenant. */
    ownerOf: (id: string): Promise<Pick<Transfer, 'tenant_id' | 'provider'> | null> =>
      collection.findOne(
        { _id: id },
        { projection: { tenant_id: 1, provider: 1 }, ...acrossTenants('look_up') },
      ),

    /** Those of these ids that no transfer has. */
    async missing(ids: readonly string[]): Promise<string[]> {
      const found = await collection
        .find({ _id: { $in: [...ids] } }, { projection: { _id: 1 }, ...acrossTenants('look_up') })
        .toArray();
      const known = new Set(found.map(({ _id }) => _id));
      return ids.filter((id) => !known.has(id));
    },

    /** Returns the transfers that can be submitted at once: never submitted, and with the recipient's name. */
    async unsent(tenantId: string, ids: string[]): Promise<string[]> {
      const found = collection.find(
        {
          _id: { $in: ids },
          tenant_id: tenantId,
          status: 'pending',
          'recipient.name': { $ne: null },
        },
        { projection: { _id: 1 } },
      );
      return (await found.toArray()).map(({ _id }) => _id);
    },
  };
}

/** Queries of reconciliations: those without a tenant are about all of them. */
function comparedTransfers(collection: Collection<Transfer>) {
  return {
    /**
     * Returns transfers of one provider between two ids, in the order of ids. `next`: the id after which further ones may follow;
     * null if none do. Passes over `MOST_PASSED` transfers of any provider at most, so a provider with few transfers beside one with
     * many costs a read of ids for each portion of these.
     */
    async madeAt(
      provider: string,
      { after, before, limit }: { after: string; before: string; limit: number },
    ): Promise<{ records: Reconcilable[]; next: string | null }> {
      const ids = { projection: { _id: 1 }, ...acrossTenants('loop') };
      const [bound] = await collection
        .find({ _id: { $gt: after, $lt: before } }, ids)
        .sort({ _id: 1 })
        .skip(MOST_PASSED - 1)
        .limit(1)
        .toArray();
      const within = { $gt: after, ...(bound ? { $lte: bound._id } : { $lt: before }) };
      const records = await collection
        .find(
          { _id: within, provider },
          { projection: RECONCILABLE, hint: { _id: 1 }, ...acrossTenants('loop') },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      const last = records.length === limit ? records.at(-1) : bound;
      return { records, next: last?._id ?? null };
    },

    /** Returns transfers between two ids, in the order of ids, which is the order of creation. */
    madeBetween: (after: string, before: string, limit: number): Promise<Reconcilable[]> =>
      collection
        .find(
          { _id: { $gt: after, $lt: before } },
          { projection: RECONCILABLE, ...acrossTenants('loop') },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),

    /** Returns transfers with a status, sorted by creation: those after `after` with an id below `before`. */
    openBefore: (
      { tenantId, status, before, after }: OpenBefore,
      limit: number,
    ): Promise<Reconcilable[]> =>
      collection
        .find(
          {
            tenant_id: tenantId,
            status,
            _id: { $lt: before },
            ...(after && {
              created_at: { $gte: after.created_at },
              $nor: [{ created_at: after.created_at, _id: { $lte: after._id } }],
            }),
          },
          { projection: RECONCILABLE, hint: LIST_INDEXES.byStatus },
        )
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .toArray(),
  };
}
