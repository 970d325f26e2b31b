import type { Database } from '../database/client.js';
import { overdue } from '../database/overdue.js';
import { dueIndex } from '../database/indexes.js';
import type { CollectionSpec } from '../database/migrations.js';
import type { RefusalItem } from '../ledger/kinds.js';
import type { AcceptOutcome } from '../ledger/view.js';
import type { BulkItem } from './items.js';
import type { GroupCommit } from '../ledger/group-commit.js';
import { idsOf, type TransferBatch } from './batch.js';
import { OPEN } from './lists.js';
import type { Transfer, TransferStatus } from './transfer.js';

export const transferBatchesCollection: CollectionSpec = {
  name: 'transfer_batches',
  validator: {
    bsonType: 'object',
    required: ['tenant', 'provider', 'items', 'created_at'],
    properties: {
      tenant: { bsonType: 'string' },
      items: { bsonType: 'array', minItems: 1 },
      created_at: { bsonType: 'date' },
    },
  },
  indexes: [dueIndex],
};

export type Batches = ReturnType<typeof createBatches>;

/** The store of batches. A batch is made by one commit together with its transfers; what changes is only its due date. */
export function createBatches(
  { db }: Database,
  groupCommit: GroupCommit,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<TransferBatch>('transfer_batches');
  const transfers = db.collection<Transfer>('transfers');

  /** Stops at the first that is open. */
  async function hasEnded(batch: TransferBatch): Promise<boolean> {
    const filter = { _id: { $in: idsOf(batch) }, status: { $in: OPEN } };
    return (await transfers.findOne(filter, { projection: { _id: 1 } })) === null;
  }

  return {
    ...overdue(collection, 'created_at', { clock, sweepSlackMs }),

    accept: (item: BulkItem | RefusalItem): Promise<AcceptOutcome> => groupCommit.commit(item),

    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    /** How the transfers of a batch stand now. */
    async statuses(batch: TransferBatch): Promise<Map<string, TransferStatus>> {
      const found = transfers.find(
        { _id: { $in: idsOf(batch) } },
        { projection: { status: 1 }, batchSize: 1_000 },
      );
      return new Map((await found.toArray()).map(({ _id, status }) => [_id, status]));
    },

    /** Those of which every transfer has come to its end. */
    async ended(ids: string[]): Promise<TransferBatch[]> {
      const found = await collection.find({ _id: { $in: ids } }).toArray();
      const ended = await Promise.all(found.map(hasEnded));
      return found.filter((_, i) => ended[i]);
    },

    /** The transfers of a batch from one index to another, the last not in it. */
    async part(
      tenant: string,
      id: string,
      from: number,
      to: number,
    ): Promise<{ ids: string[]; provider: string }> {
      const found = await collection.findOne(
        { _id: id, tenant },
        { projection: { provider: 1, items: { $slice: [from, to - from] } } },
      );
      return found ? { ids: idsOf(found), provider: found.provider } : { ids: [], provider: '' };
    },

    /** Nothing is left to do for the batch as such. */
    async close(tenant: string, id: string): Promise<void> {
      await collection.updateOne({ _id: id, tenant }, { $set: { due_at: null } });
    },
  };
}
