import type { Database } from '../../platform/database/client.js';
import { BY_ID, ownedFilter, type Owned } from '../../platform/database/tenant-filters.js';
import { supervisionOf } from '../../core/supervision/supervision.js';
import { idsOf, type BulkTransfer } from './record.js';
import { OPEN } from '../../core/instructions/listing.js';
import type { Transfer, TransferStatus } from '../transfers/record.js';

/** The store of bulk transfers. */
export type BulkTransferStore = ReturnType<typeof createBulkTransferStore>;

/**
 * Creates the store of bulk transfers. One commit creates a bulk transfer and its transfers. Afterwards only the time of
 * its next check changes.
 */
export function createBulkTransferStore(
  { db }: Database,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<BulkTransfer>('bulk_transfers');
  const transfers = db.collection<Transfer>('transfers');

  /** Stops at the first open transfer. */
  async function hasEnded(bulkTransfer: BulkTransfer): Promise<boolean> {
    const filter = { ...itemsOf(bulkTransfer), status: { $in: OPEN } };
    return (await transfers.findOne(filter, { projection: { _id: 1 }, ...BY_ID })) === null;
  }

  return {
    ...supervisionOf(
      collection,
      'created_at',
      { clock, stallTimeoutMs },
      { acceptedField: 'created_at', open: {} },
    ),

    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** Returns the present status of each transfer, by id. */
    async statuses(bulkTransfer: BulkTransfer): Promise<Map<string, TransferStatus>> {
      const found = transfers.find(itemsOf(bulkTransfer), {
        projection: { status: 1 },
        batchSize: 1_000,
        ...BY_ID,
      });
      return new Map((await found.toArray()).map(({ _id, status }) => [_id, status]));
    },

    /** Returns the bulk transfers in which every transfer is completed or failed. */
    async ended(owned: Owned[]): Promise<BulkTransfer[]> {
      const found = await collection.find(ownedFilter(owned), BY_ID).toArray();
      const ended = await Promise.all(found.map(hasEnded));
      return found.filter((_, i) => ended[i]);
    },

    /** Returns the accepted transfers from index `from` up to, not including, index `to`. */
    async chunk(
      tenantId: string,
      id: string,
      from: number,
      to: number,
    ): Promise<{ ids: string[]; provider: string }> {
      const found = await collection.findOne(
        { _id: id, tenant_id: tenantId },
        { projection: { provider: 1, items: { $slice: [from, to - from] } } },
      );
      return found ? { ids: idsOf(found), provider: found.provider } : { ids: [], provider: '' };
    },

    /** Moves the next check back after a chunk, so that a long bulk transfer counts as one that makes progress. */
    async progressed(tenantId: string, id: string): Promise<void> {
      await collection.updateOne(
        { _id: id, tenant_id: tenantId, next_check_at: { $ne: null } },
        { $set: { next_check_at: new Date(clock().getTime() + stallTimeoutMs) } },
      );
    },

    /** Clears the next check: every transfer was submitted or scheduled. */
    async complete(tenantId: string, id: string): Promise<void> {
      await collection.updateOne(
        { _id: id, tenant_id: tenantId },
        { $set: { next_check_at: null } },
      );
    },
  };
}

/** The filter for the transfers of a bulk transfer. */
const itemsOf = (bulkTransfer: BulkTransfer) => ({
  tenant_id: bulkTransfer.tenant_id,
  _id: { $in: idsOf(bulkTransfer) },
});
