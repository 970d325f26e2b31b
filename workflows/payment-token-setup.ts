import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { TokenSetupInput } from '../src/capabilities/payment-tokens/workflow-contract.js';
import { FIRST_POLL_MS, IDLE_POLL_MS, ownWork } from './policies.js';

/**
 * Opens the page on which a customer saves a payment method without paying, and asks for its outcome until it has one: after
 * every signal, and with growing pauses. Its id is `payment-token-setup/<token id>`.
 */
export async function paymentTokenSetup(input: TokenSetupInput): Promise<void> {
  const { tenantId, id, taskQueue, pollMaxMs } = input;
  const { advanceTokenSetup } = proxyActivities<Activities>({ ...ownWork, taskQueue });
  let isChanged = false;
  setHandler(defineSignal('recordChanged'), () => {
    isChanged = true;
  });
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 2, pollMaxMs)) {
    isChanged = false;
    const progress = await advanceTokenSetup({ tenantId, id, pauseMs });
    if (progress === 'over') return;
    // Its customer needs time.
    if (progress === 'open') pauseMs = Math.max(pauseMs, IDLE_POLL_MS);
    await condition(() => isChanged, pauseMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof paymentTokenSetup>(input);
  }
}
