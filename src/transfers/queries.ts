import type { Collection } from 'mongodb';
import { ENDED } from './lists.js';
import type { Transfer } from './transfer.js';

/** What is read of transfers. Clients' queries carry the tenant; the others are for operators and the worker. */
export function transferQueries(collection: Collection<Transfer>, clock: () => Date) {
  return {
    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    /** By our id alone: for provider callbacks, which know no tenant. */
    ownerOf: (id: string): Promise<Pick<Transfer, 'tenant' | 'provider'> | null> =>
      collection.findOne({ _id: id }, { projection: { tenant: 1, provider: 1 } }),

    /** Those that have come to their end: a reversal may still follow. */
    ended: (ids: string[]): Promise<Transfer[]> =>
      collection
        .find({ _id: { $in: ids }, status: { $in: ENDED } }, { projection: { timeline: 0 } })
        .toArray(),

    /** Those whose order has not left and whose recipient's name is known: nothing has to be asked before. */
    async unsent(tenant: string, ids: string[]): Promise<string[]> {
      const found = collection.find(
        { _id: { $in: ids }, tenant, status: 'pending', 'recipient.name': { $ne: null } },
        { projection: { _id: 1 } },
      );
      return (await found.toArray()).map(({ _id }) => _id);
    },

    /** For operators, over all tenants: the latest first, or those first that have waited longest. */
    latest: ({ attention, limit }: { attention: boolean; limit: number }): Promise<Transfer[]> =>
      collection
        .find(attention ? { 'attention.since': { $type: 'date' } } : {}, {
          projection: { timeline: 0 },
        })
        .sort(attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(limit)
        .toArray(),

    /** Records whose workflow has not been heard of in time, oldest first. */
    due: (limit: number): Promise<Transfer[]> =>
      collection
        // The type is named so that the partial index serves this query.
        .find({ due_at: { $lt: clock(), $type: 'date' } }, { projection: { timeline: 0 } })
        .sort({ due_at: 1 })
        .limit(limit)
        .toArray(),
  };
}
