import type { Database } from '../../platform/database/client.js';
import { supervisionOf } from '../../core/supervision/supervision.js';
import { idsOf, type BulkTransfer } from './bulk-transfer.js';
import { OPEN, type Transfer, type TransferStatus } from '../transfers/transfer.js';

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
    const filter = { _id: { $in: idsOf(bulkTransfer) }, status: { $in: OPEN } };
    return (await transfers.findOne(filter, { projection: { _id: 1 } })) === null;
  }

  return {
    ...supervisionOf(collection, 'created_at', { clock, stallTimeoutMs }),

    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** Returns the present status of each transfer, by id. */
    async statuses(bulkTransfer: BulkTransfer): Promise<Map<string, TransferStatus>> {
      const found = transfers.find(
        { _id: { $in: idsOf(bulkTransfer) } },
        { projection: { status: 1 }, batchSize: 1_000 },
      );
      return new Map((await found.toArray()).map(({ _id, status }) => [_id, status]));
    },

    /** Returns the bulk transfers in which every transfer is completed or failed. */
    async ended(ids: string[]): Promise<BulkTransfer[]> {
      const found = await collection.find({ _id: { $in: ids } }).toArray();
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

    /** Clears the next check: every transfer was submitted or scheduled. */
    async complete(tenantId: string, id: string): Promise<void> {
      await collection.updateOne(
        { _id: id, tenant_id: tenantId },
        { $set: { next_check_at: null } },
      );
    },
  };
}
