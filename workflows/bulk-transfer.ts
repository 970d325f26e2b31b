import { CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { BulkTransferInput } from '../src/capabilities/bulk-transfers/workflow-contract.js';
import { untilStored } from './instruction/blocked.js';
import { localActivities } from './local-activities.js';
import { BOUNDS_OF_OLDER_RUNS, bulkTransferChunk, ownStore } from './policies.js';

const store = localActivities(ownStore);

/**
 * Submits the transfers of a bulk transfer, a chunk per activity, and applies final answers. Every other transfer gets a
 * workflow of its own, `transfer/<transfer id>`, which is the one that operators search for. This run may be terminated
 * and started again at any time. Its id is `bulk-transfer/<bulk transfer id>`.
 */
export async function bulkTransfer(input: BulkTransferInput): Promise<void> {
  await CancellationScope.nonCancellable(() => submitAll(input));
}

async function submitAll({
  id,
  tenantId,
  count,
  taskQueue,
  chunkSize = BOUNDS_OF_OLDER_RUNS.chunkSize,
  chunksAtOnce = BOUNDS_OF_OLDER_RUNS.chunksAtOnce,
}: BulkTransferInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...bulkTransferChunk, taskQueue });
  let next = 0;
  const runner = async () => {
    for (let from = next; from < count; from = next) {
      next = Math.min(from + chunkSize, count);
      // If a chunk fails, `completeBulkTransfer` schedules its open transfers.
      await provider
        .submitBulkTransferChunk({ tenantId, id, from, to: next })
        .catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: chunksAtOnce }, runner));
  await untilStored(() => store.completeBulkTransfer({ tenantId, id }));
  setCurrentDetails('Done: every transfer has ended or has a workflow of its own.');
}
