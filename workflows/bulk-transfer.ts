import { CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { BulkTransferInput } from '../src/capabilities/transfers/workflow-contract.js';
import { localActivities } from './local-activities.js';
import { BULK_TRANSFER_CHUNK, bulkTransferChunk, ownStore, CHUNKS_AT_ONCE } from './policies.js';

const store = localActivities(ownStore);

/**
 * Lets the orders of a batch out, many by one activity, and books what the bank answers at once. What does not end so
 * gets a workflow of its own, as if it had come alone: it is `transfer/<transfer id>` that operators look for, never
 * this. The records decide; this run may be ended and started again at any moment. Its id is `bulk-transfer/<batch id>`.
 */
export async function bulkTransfer(input: BulkTransferInput): Promise<void> {
  await CancellationScope.nonCancellable(() => submitAll(input));
}

async function submitAll({ id, tenantId, count, taskQueue }: BulkTransferInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...bulkTransferChunk, taskQueue: taskQueue });
  let next = 0;
  const runner = async () => {
    for (let from = next; from < count; from = next) {
      next = Math.min(from + BULK_TRANSFER_CHUNK, count);
      // What a part did not come to is handed over when the batch is closed.
      await provider
        .submitBulkTransferChunk({ tenantId, id, from, to: next })
        .catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: CHUNKS_AT_ONCE }, runner));
  await store.completeBulkTransfer({ tenantId, id });
  setCurrentDetails('Done: every transfer has ended, or has a workflow of its own.');
}
