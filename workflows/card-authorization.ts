import {
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { AuthorizationRef } from '../src/capabilities/card-authorizations/workflow-contract.js';
import { recordChangedSignal } from './instruction/operator-messages.js';
import { localActivities } from './local-activities.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

/**
 * Runs as long as an approved authorization holds money. The hold ends when the issuer reports a clearing, a reversal or
 * an expiry, each of which signals this run, or when the hold's own time is over. Its id is
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
  setCurrentDetails('The money is held until the issuer clears, reverses or expires the payment.');
  for (;;) {
    changed = false;
    const hold = await store.checkCardAuthorizationHold(input);
    if (!hold.held) break;
    await condition(() => changed, hold.nextCheckMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cardAuthorization>(input);
  }
  setCurrentDetails('Done: no money is held any more. The record and the ledger show the outcome.');
}
