import { CancellationScope, setCurrentDetails } from '@temporalio/workflow';
import type { TransferMicroBatchInput } from '../src/capabilities/transfers/workflow-contract.js';
import { localActivities } from './local-activities.js';
import { localMicroBatch, ownStore } from './policies.js';

const local = localActivities(localMicroBatch);
const store = localActivities(ownStore);

/**
 * Submits transfers that were accepted within moments, and applies final answers. Every other transfer gets a workflow of
 * its own, `transfer/<transfer id>`, which is the one that operators search for. This run may be terminated at any time.
 * Its id is `transfer-micro-batch/<id of the first transfer>`.
 */
export async function transferMicroBatch(input: TransferMicroBatchInput): Promise<void> {
  await CancellationScope.nonCancellable(() =>
    local
      .submitTransferMicroBatch(input)
      .catch(() => store.scheduleTransferWorkflows(input))
      // Each open transfer has a next check, at which the dispatcher starts its own workflow.
      .catch(() => undefined),
  );
  setCurrentDetails('Done: every transfer has ended or has a workflow of its own.');
}
