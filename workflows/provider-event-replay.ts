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
 * Applies a stored provider event again, on the rate-limited queue of replays. Its id is
 * `provider-event-replay/<replay id>`. A cancellation is ignored, because the dispatcher would start it again.
 */
export async function providerEventReplay({
  id,
  taskQueue,
}: ProviderEventReplayInput): Promise<void> {
  const { replayProviderEvent } = proxyActivities<Activities>({ ...ownWork, taskQueue });
  await CancellationScope.nonCancellable(async () => {
    const { waitingEventId } = await replayProviderEvent({ id });
    if (waitingEventId === null) return;
    // The signal fails if the event's own workflow has ended meanwhile; then nothing waits for it.
    const workflow = getExternalWorkflowHandle(providerEventWorkflowId(waitingEventId));
    await workflow.signal(recordChangedSignal).catch(() => undefined);
  });
}
