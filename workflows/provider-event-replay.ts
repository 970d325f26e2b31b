import {
  CancellationScope,
  getExternalWorkflowHandle,
  proxyActivities,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  providerEventWorkflowId,
  type ProviderEventReplayInput,
} from '../src/core/provider-events/workflow-contract.js';
import { recordChangedSignal } from './instruction/operator-messages.js';
import { ownWork } from './policies.js';

/**
 * Applies a stored event once more, at the pace of the queue of replays. Its id is `provider-event-replay/<replay id>`. A cancellation
 * changes nothing: the record would only bring it back.
 */
export async function providerEventReplay({
  id,
  taskQueue,
}: ProviderEventReplayInput): Promise<void> {
  const { replayProviderEvent } = proxyActivities<Activities>({ ...ownWork, taskQueue: taskQueue });
  await CancellationScope.nonCancellable(async () => {
    const { waited } = await replayProviderEvent({ id });
    if (waited === null) return;
    // It ended on its own meanwhile, perhaps.
    const first = getExternalWorkflowHandle(providerEventWorkflowId(waited));
    await first.signal(recordChangedSignal).catch(() => undefined);
  });
}
