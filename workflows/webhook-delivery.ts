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
 * Retries one delivery until it is taken or its schedule is used up. The record decides: one that was delivered,
 * called off or taken up anew meanwhile ends this at its next look. Its id is `webhook-delivery/<delivery id>`. A cancellation
 * changes nothing, for the record would only bring it back: remove or disable the endpoint instead.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  await CancellationScope.nonCancellable(() => retry(input));
}

async function retry({ id, scheduleMs, ...begin }: WebhookDeliveryInput): Promise<void> {
  let { tries, afterMs } = begin;
  for (;;) {
    if (afterMs > 0) await sleep(afterMs);
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof webhookDelivery>({ id, tries, scheduleMs, afterMs: 0 });
    }
    const nextMs = scheduleMs[tries] ?? null;
    const report = await webhooks.deliverWebhook({ id, nextMs });
    if (report.kind === 'busy') {
      afterMs = report.afterMs;
      continue;
    }
    if (report.kind !== 'failed' || nextMs === null) return;
    tries += 1;
    afterMs = nextMs;
  }
}
