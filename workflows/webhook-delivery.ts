import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  DELIVERY_ROUNDS,
  type WebhookDeliveryInput,
} from '../src/core/webhooks/workflow-contract.js';
import { recordChangedSignal } from './instruction/operator-messages.js';
import { BOUNDS_OF_OLDER_RUNS, webhookRound } from './policies.js';

const webhooks = proxyActivities<Activities>(webhookRound);

/**
 * Delivers what waits for one webhook endpoint, in rounds, until nothing waits or the endpoint is parked. The store decides
 * about each round: what is due, and when the next one is. Its id is `webhook-delivery/<endpoint id>`. A cancellation is
 * ignored, because recovery would start it again: remove or disable the endpoint instead.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  await CancellationScope.nonCancellable(() => deliverInRounds(input));
}

async function deliverInRounds({
  id,
  rounds: most = BOUNDS_OF_OLDER_RUNS.deliveryRounds,
}: WebhookDeliveryInput): Promise<void> {
  let isChanged = false;
  setHandler(recordChangedSignal, () => {
    isChanged = true;
  });
  for (let rounds = 1; ; rounds += 1) {
    isChanged = false;
    const result = await webhooks.deliverWebhooks({ id });
    // A signal of this moment may be about a delivery that the round did not see.
    if (result.kind === 'closed' && !isChanged) return;
    if (result.kind === 'waiting' && result.afterMs > 0) {
      await condition(() => isChanged, result.afterMs);
    }
    if (rounds >= most || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof webhookDelivery>({ id, rounds: DELIVERY_ROUNDS });
    }
  }
}
