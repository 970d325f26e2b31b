import {
  CancellationScope,
  getExternalWorkflowHandle,
  proxyActivities,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { cardEventWorkflowId, type ReplayInput } from '../src/cards/events/reports.js';
import { wakeSignal } from './operator-inbox.js';
import { ownWork } from './policies.js';

/**
 * Applies a stored event once more, at the pace of the queue of replays. Its id is `replay/<replay id>`. A cancellation
 * changes nothing: the record would only bring it back.
 */
export async function replay({ id, queue }: ReplayInput): Promise<void> {
  const { replayCardEvent } = proxyActivities<Activities>({ ...ownWork, taskQueue: queue });
  await CancellationScope.nonCancellable(async () => {
    const { waited } = await replayCardEvent({ id });
    if (waited === null) return;
    // It ended on its own meanwhile, perhaps.
    const first = getExternalWorkflowHandle(cardEventWorkflowId(waited));
    await first.signal(wakeSignal).catch(() => undefined);
  });
}
