import type { Collection, Filter, Sort } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { saveRefusal, type SaveRefusal } from '../../core/idempotency/save-refusal.js';
import type { AcceptResult } from '../../core/commit/saved-response.js';
import {
  acceptTransfer,
  applyTransferFact,
  grantTransferPermit,
  type AcceptTransfer,
  type ApplyTransferFactResult,
} from './mutations.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import type { TransferFact } from './transitions.js';
import { countTotal } from './counts.js';
import {
  indexFor,
  isAmountInRange,
  LIST_INDEXES,
  listFilter,
  type Transfer,
  type TransferListing,
  type TransferStatus,
} from './transfer.js';

export type Transfers = ReturnType<typeof createTransfers>;

/**
 * The store of transfers. Money, states and events change only through `accept` and `applyFact`; the other methods
 * write what an attempt has learned and when somebody has to look again.
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

    /** What came in a batch and is open is due now, for a workflow of its own. */
    async scheduleOwnWorkflows(tenantId: string, ids: string[]) {
      const now = clock();
      await collection.updateMany(
        { _id: { $in: ids }, tenant_id: tenantId, next_check_at: { $type: 'date' } },
        { $set: { next_check_at: now }, $inc: { version: 1 } },
      );
    },

    /** Fills in what the name enquiry found after acceptance. */
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

    accept: (input: AcceptTransfer): Promise<AcceptResult> =>
      groupCommit.commit(acceptTransfer, input),
    saveRefusal: (input: SaveRefusal): Promise<AcceptResult> =>
      groupCommit.commit(saveRefusal, input),

    /** Applies what became known, through the state guard; the answer is the transfer as it stands then. */
    applyFact: (
      tenantId: string,
      id: string,
      fact: TransferFact,
    ): Promise<ApplyTransferFactResult> =>
      groupCommit.commit(applyTransferFact, { tenantId, id, fact }),
  };
}

/** Lists whose first pages and totals cost the same however many transfers a tenant has. */
function transferLists(database: Database) {
  const transfers = database.db.collection<Transfer>('transfers');

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

/** What of a transfer is held against the provider's word. */
export type Reconcilable = Pick<
  Transfer,
  | '_id'
  | 'tenant_id'
  | 'provider'
  | 'status'
  | 'amount_minor'
  | 'in_suspense'
  | 'reversed_at'
  | 'monitor_until'
  | 'created_at'
  | 'updated_at'
>;

const RECONCILABLE = {
  tenant_id: 1,
  provider: 1,
  status: 1,
  amount_minor: 1,
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

/** What is read of transfers. Clients' queries carry the tenant; the others are for operators and the worker. */
function transferQueries(collection: Collection<Transfer>) {
  return {
    /** By our id alone: for provider callbacks, which know no tenant. */
    ownerOf: (id: string): Promise<Pick<Transfer, 'tenant_id' | 'provider'> | null> =>
      collection.findOne({ _id: id }, { projection: { tenant_id: 1, provider: 1 } }),

    /** Those whose order has not left and whose recipient's name is known: nothing has to be asked before. */
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

    /** In the order of ids, which is that of time: after one, before another. */
    madeBetween: (after: string, before: string, limit: number): Promise<Reconcilable[]> =>
      collection
        .find({ _id: { $gt: after, $lt: before } }, { projection: RECONCILABLE })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),

    /** In the order of the index by status: what comes after `after` and has an id below `before`. */
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
