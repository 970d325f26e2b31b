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
 * Follows what was approved until nothing is held for it: until the issuer says that it was cleared, reversed or has
 * expired, which the event's own workflow books and wakes this one for; or until the hold's time is over. Its id is
 * `card-authorization/<authorization id>`. A cancellation changes nothing, for the record would only bring it back.
 */
export async function cardAuthorization(input: AuthorizationRef): Promise<void> {
  await CancellationScope.nonCancellable(() => checkUntilReleased(input));
}

async function checkUntilReleased(input: AuthorizationRef): Promise<void> {
  let awake = false;
  setHandler(recordChangedSignal, () => void (awake = true), {
    description: 'Look at the record now: something has become known.',
  });
  setCurrentDetails('The money is held until the issuer says what became of the payment.');
  for (;;) {
    awake = false;
    const report = await store.checkCardAuthorizationHold(input);
    if (!report.held) break;
    await condition(() => awake, report.againInMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cardAuthorization>(input);
  }
  setCurrentDetails(
    'Done: nothing is held any more. The record and the ledger tell what became of it.',
  );
}
