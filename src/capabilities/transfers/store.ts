import type { Filter } from 'mongodb';
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
import { transferLists } from './lists.js';
import { transferQueries } from './queries.js';
import type { Transfer } from './transfer.js';

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
