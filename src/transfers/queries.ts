import type { Collection, Filter, Sort } from 'mongodb';
import type { Transfer, TransferStatus } from './transfer.js';

export type TransferListing = {
  page: number;
  limit: number;
  sort: { field: 'created_at' | 'amount_minor'; descending: boolean };
  status?: TransferStatus | undefined;
  reference?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  until?: Date | undefined;
};

const ENDED: TransferStatus[] = ['completed', 'failed'];

/** What is read of transfers. Clients' queries carry the tenant; the others are for operators and the worker. */
export function transferQueries(collection: Collection<Transfer>, clock: () => Date) {
  return {
    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    /** By our id alone: for provider callbacks, which know no tenant. */
    tenantOf: async (id: string): Promise<string | null> =>
      (await collection.findOne({ _id: id }, { projection: { tenant: 1 } }))?.tenant ?? null,

    async list(
      tenant: string,
      query: TransferListing,
    ): Promise<{ items: Transfer[]; total: number }> {
      const filter = listFilter(tenant, query);
      const direction = query.sort.descending ? -1 : 1;
      const sort: Sort = { [query.sort.field]: direction, _id: direction };
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 } })
          .sort(sort)
          .skip((query.page - 1) * query.limit)
          .limit(query.limit)
          .toArray(),
        collection.countDocuments(filter),
      ]);
      return { items, total };
    },

    /** Those that have come to their end: a reversal may still follow. */
    ended: (ids: string[]): Promise<Transfer[]> =>
      collection
        .find({ _id: { $in: ids }, status: { $in: ENDED } }, { projection: { timeline: 0 } })
        .toArray(),

    /** For operators, over all tenants: the latest first. */
    latest: ({ attention, limit }: { attention: boolean; limit: number }): Promise<Transfer[]> =>
      collection
        .find(attention ? { attention: { $ne: null } } : {}, { projection: { timeline: 0 } })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),

    /** Records whose workflow has not been heard of in time, oldest first. */
    due: (limit: number): Promise<Transfer[]> =>
      collection
        .find({ due_at: { $lt: clock() } }, { projection: { timeline: 0 } })
        .sort({ due_at: 1 })
        .limit(limit)
        .toArray(),
  };
}

function listFilter(tenant: string, query: TransferListing): Filter<Transfer> {
  const { status, reference, from, until } = query;
  return {
    tenant,
    ...(status && { status }),
    ...(reference !== undefined && { reference }),
    ...((from ?? until) && {
      created_at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
    }),
  };
}
