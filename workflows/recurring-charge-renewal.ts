import {
  CancellationScope,
  continueAsNew,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { RenewalInput } from '../src/capabilities/recurring-charges/workflow-contract.js';
import { untilStored } from './instruction/blocked.js';
import { localActivities } from './local-activities.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

/**
 * Charges the due periods of a recurring charge, the oldest first, one commit each. The record says which period is
 * next, so parallel runs and early or repeated starts charge no period twice. Its id is
 * `recurring-charge-renewal/<recurring charge id>`; the Schedule appends the time.
 */
export async function recurringChargeRenewal(input: RenewalInput): Promise<void> {
  await CancellationScope.nonCancellable(() => chargeDuePeriods(input));
}

async function chargeDuePeriods(input: RenewalInput): Promise<void> {
  let details = 'No period was due.';
  for (;;) {
    const result = await untilStored(() => store.chargeRecurringPeriod(input));
    if (result.kind === 'done') break;
    if (result.kind === 'soon') await sleep(result.afterMs);
    if (result.kind === 'repeat' && result.chargeId !== null) {
      details = `Charged up to period ${result.period}, as ${result.chargeId}.`;
      setCurrentDetails(details);
    }
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof recurringChargeRenewal>(input);
  }
  setCurrentDetails(details);
}
