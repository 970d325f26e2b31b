import type { Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import type { SaveRefusal } from '../../core/commit/mutations.js';
import type { AcceptResult } from '../../core/commit/unit-of-work.js';
import type { AcceptTransfer, ApplyTransferFactResult } from './mutations.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import type { TransferFact } from './transitions.js';
import { ENDED, LIST_INDEXES, transferLists } from './lists.js';
import { transferQueries } from './queries.js';
import type { Transfer } from './transfer.js';

const long = { bsonType: 'long' };

export const transfersCollection: CollectionSpec = {
  name: 'transfers',
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'amount_minor',
      'fee_minor',
      'total_minor',
      'submissions',
    ],
    properties: {
      tenant_id: { bsonType: 'string' },
      reference: { bsonType: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { ...long, minimum: 1 },
      fee_minor: { ...long, minimum: 0 },
      total_minor: { ...long, minimum: 1 },
      currency: { enum: ['NGN'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    { key: LIST_INDEXES.byCreation },
    { key: LIST_INDEXES.byStatus },
    { key: LIST_INDEXES.byAmount },
    { key: LIST_INDEXES.byStatusAndAmount, partialFilterExpression: { status: { $in: ENDED } } },
    nextCheckIndex,
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
          (await groupCommit.commit({ kind: 'permitTransfer', tenantId, id, request })).transfer,
      },
    }),

    /** What came in a batch and is open is due now, for a workflow of its own. */
    async handOver(tenantId: string, ids: string[]) {
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

    accept: (item: AcceptTransfer | SaveRefusal): Promise<AcceptResult> => groupCommit.commit(item),

    /** Applies what became known, through the state guard; the answer is the transfer as it stands then. */
    applyFact: (tenantId: string, id: string, fact: TransferFact): Promise<ApplyTransferFactResult> =>
      groupCommit.commit({ kind: 'transferFact', tenantId, id, fact }),
  };
}
