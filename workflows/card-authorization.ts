import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AuthorizationRef } from '../src/capabilities/card-authorizations/workflow-contract.js';
import { untilStored } from './instruction/blocked.js';
import { recordChangedSignal } from './instruction/operator-messages.js';
import { localActivities } from './local-activities.js';
import { ownStore, ownWork } from './policies.js';

const store = localActivities(ownStore);

/**
 * Runs as long as an approved authorization holds money. The hold ends when the issuer reports a clearing, a reversal or
 * an expiry, each of which signals this run. Daily, and when the hold's own time is over, the issuer is asked: no hold ends
 * by our clock alone. Its id is
 * `card-authorization/<authorization id>`. A cancellation is ignored, because the dispatcher would start it again.
 */
export async function cardAuthorization(input: AuthorizationRef): Promise<void> {
  await CancellationScope.nonCancellable(() => checkUntilReleased(input));
}

async function checkUntilReleased(input: AuthorizationRef): Promise<void> {
  let changed = false;
  setHandler(recordChangedSignal, () => void (changed = true), {
    description: 'Reads the authorization now, because it may have changed.',
  });
  const { verifyCardAuthorization } = proxyActivities<Activities>({
    ...ownWork,
    taskQueue: input.taskQueue ?? workflowInfo().taskQueue,
  });
  setCurrentDetails('The money is held until the issuer clears, reverses or expires the payment.');
  const untilChanged = async (ms: number) => {
    changed = false;
    await condition(() => changed, ms);
  };
  for (;;) {
    changed = false;
    const hold = await untilStored(() => store.checkCardAuthorizationHold(input), {
      pause: untilChanged,
    });
    if (!hold.held) break;
    if (hold.verify) {
      await verifyCardAuthorization(input);
      continue;
    }
    await condition(() => changed, hold.nextCheckMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cardAuthorization>(input);
  }
  setCurrentDetails('Done: no money is held any more. The record and the ledger show the outcome.');
}
