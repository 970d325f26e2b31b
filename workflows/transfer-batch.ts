import { CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { TransferBatchInput } from '../src/transfers/reports.js';
import { localActivities } from './local-calls.js';
import { BATCH_PART, batchPart, ownStore, PARTS_AT_ONCE } from './policies.js';

const store = localActivities(ownStore);

/**
 * Lets the orders of a batch out, many by one activity, and books what the bank answers at once. What does not end so
 * gets a workflow of its own, as if it had come alone: it is `transfer/<transfer id>` that operators look for, never
 * this. The records decide; this run may be ended and started again at any moment. Its id is `bulk/<batch id>`.
 */
export async function transferBatch(input: TransferBatchInput): Promise<void> {
  await CancellationScope.nonCancellable(() => letOut(input));
}

async function letOut({ id, tenant, count, queue }: TransferBatchInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...batchPart, taskQueue: queue });
  let next = 0;
  const runner = async () => {
    for (let from = next; from < count; from = next) {
      next = Math.min(from + BATCH_PART, count);
      // What a part did not come to is handed over when the batch is closed.
      await provider.submitBatchPart({ tenant, id, from, to: next }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, runner));
  await store.closeBatch({ tenant, id });
  setCurrentDetails('Done: every transfer has ended, or has a workflow of its own.');
}
