import type { Filter } from 'mongodb';
import type { Database } from '../database/client.js';
import { attentionIndex, dueIndex } from '../database/indexes.js';
import type { CollectionSpec } from '../database/migrations.js';
import type { RefusalItem } from '../ledger/kinds.js';
import type { AcceptOutcome } from '../ledger/view.js';
import type { AcceptItem, FactOutcome } from './items.js';
import type { GroupCommit } from '../ledger/group-commit.js';
import { pursuedRecords } from '../pursuits/store.js';
import type { PursuedRecord } from '../pursuits/record.js';
import type { TransferFact } from './facts.js';
import { ENDED, LIST_INDEXES, transferLists } from './lists.js';
import { transferQueries } from './queries.js';
import type { Transfer } from './transfer.js';

const long = { bsonType: 'long' };

export const transfersCollection: CollectionSpec = {
  name: 'transfers',
  validator: {
    bsonType: 'object',
    required: ['tenant', 'version', 'status', 'amount_minor', 'fee_minor', 'total_minor', 'sends'],
    properties: {
      tenant: { bsonType: 'string' },
      reference: { bsonType: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { ...long, minimum: 1 },
      fee_minor: { ...long, minimum: 0 },
      total_minor: { ...long, minimum: 1 },
      currency: { enum: ['NGN'] },
      version: { bsonType: 'int' },
      sends: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant: 1, reference: 1 }, unique: true },
    { key: LIST_INDEXES.byCreation },
    { key: LIST_INDEXES.byStatus },
    { key: LIST_INDEXES.byAmount },
    { key: LIST_INDEXES.byStatusAndAmount, partialFilterExpression: { status: { $in: ENDED } } },
    dueIndex,
    attentionIndex,
  ],
};

export type Transfers = ReturnType<typeof createTransfers>;

/**
 * The store of transfers. Money, states and events change only through `accept` and `applyFact`; the other methods
 * write what an attempt has learned and when somebody has to look again.
 */
export function createTransfers(
  { client, db }: Database,
  groupCommit: GroupCommit,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<Transfer>('transfers');

  return {
    ...transferQueries(collection),
    ...transferLists({ client, db }),
    ...pursuedRecords<Transfer>({
      collection: db.collection<PursuedRecord>('transfers'),
      clock,
      sweepSlackMs,
      announced: {
        isHeard: (tenant) => groupCommit.isHeard(tenant),
        permit: async (tenant, id, request) =>
          (await groupCommit.commit({ kind: 'permitTransfer', tenant, id, request })).transfer,
      },
    }),

    /** What came in a batch and is open is due now, for a workflow of its own. */
    async handOver(tenant: string, ids: string[]) {
      const now = clock();
      await collection.updateMany(
        { _id: { $in: ids }, tenant, due_at: { $type: 'date' } },
        { $set: { due_at: now }, $inc: { version: 1 } },
      );
    },

    /** Fills in what the name enquiry found after acceptance. */
    async nameRecipient(tenant: string, id: string, found: { name: string; bank: string }) {
      const filter = { _id: id, tenant, 'recipient.name': null } as Filter<Transfer>;
      await collection.updateOne(filter, {
        $set: {
          'recipient.name': found.name,
          'recipient.bank': found.bank,
          updated_at: clock(),
        },
        $inc: { version: 1 },
      });
    },

    accept: (item: AcceptItem | RefusalItem): Promise<AcceptOutcome> => groupCommit.commit(item),

    /** Applies what became known, through the state guard; the answer is the transfer as it stands then. */
    applyFact: (tenant: string, id: string, fact: TransferFact): Promise<FactOutcome> =>
      groupCommit.commit({ kind: 'transferFact', tenant, id, fact }),
  };
}
