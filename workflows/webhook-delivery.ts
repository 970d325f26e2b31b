import {
  CancellationScope,
  continueAsNew,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { WebhookDeliveryInput } from '../src/core/webhooks/workflow-contract.js';
import { webhookAttempt } from './policies.js';

const webhooks = proxyActivities<Activities>(webhookAttempt);

/**
 * Retries one webhook delivery until the receiver accepts it or the schedule is used up. The record decides: if it was
 * delivered, cancelled or redelivered meanwhile, this run ends at its next attempt. Its id is
 * `webhook-delivery/<delivery id>`. A cancellation is ignored, because recovery would start it again: remove or disable
 * the endpoint instead.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  await CancellationScope.nonCancellable(() => retry(input));
}

async function retry({ id, scheduleMs, ...start }: WebhookDeliveryInput): Promise<void> {
  let { attemptCount, afterMs } = start;
  for (;;) {
    if (afterMs > 0) await sleep(afterMs);
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof webhookDelivery>({ id, attemptCount, scheduleMs, afterMs: 0 });
    }
    const nextMs = scheduleMs[attemptCount] ?? null;
    const result = await webhooks.deliverWebhook({ id, nextMs });
    if (result.kind === 'busy') {
      afterMs = result.afterMs;
      continue;
    }
    if (result.kind !== 'failed' || nextMs === null) return;
    attemptCount += 1;
    afterMs = nextMs;
  }
}
