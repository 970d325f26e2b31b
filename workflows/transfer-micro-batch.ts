import { CancellationScope, setCurrentDetails } from '@temporalio/workflow';
import type { TransferMicroBatchInput } from '../src/capabilities/transfers/workflow-contract.js';
import { localActivities } from './local-activities.js';
import { ownStore, localMicroBatch } from './policies.js';

const local = localActivities(localMicroBatch);
const store = localActivities(ownStore);

/**
 * Tries the first orders of transfers that were accepted together, and books what the bank answers at once. What does
 * not end so gets a workflow of its own, as if it had come alone: it is `transfer/<transfer id>` that operators look
 * for, never this. The records decide; this run may be ended at any moment. Its id is `transfer-micro-batch/<first transfer's id>`.
 */
export async function transferMicroBatch(input: TransferMicroBatchInput): Promise<void> {
  await CancellationScope.nonCancellable(() =>
    local.submitTransferMicroBatch(input).catch(() => store.scheduleTransferWorkflows(input)),
  );
  setCurrentDetails('Done: every transfer has ended, or has a workflow of its own.');
}
