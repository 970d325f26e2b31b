import type { Collection } from 'mongodb';
import { LIST_INDEXES } from './transfer.js';
import type { Transfer, TransferStatus } from './transfer.js';

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
export function transferQueries(collection: Collection<Transfer>) {
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
