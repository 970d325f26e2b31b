import {
  CancellationScope,
  continueAsNew,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { RenewalInput } from '../src/capabilities/recurring-charges/workflow-contract.js';
import { localActivities } from './local-activities.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

/**
 * Charges the periods of a recurring charge that are due, the oldest first: one commit each, and the record says which.
 * So it does no harm that several run at once, and none that it fires too early or too often. Its id is
 * `recurring-charge-renewal/<recurring charge id>`, with the time at its end where the Schedule has started it.
 */
export async function recurringChargeRenewal(input: RenewalInput): Promise<void> {
  await CancellationScope.nonCancellable(() => chargeDuePeriods(input));
}

async function chargeDuePeriods(input: RenewalInput): Promise<void> {
  let done = 'Nothing was due.';
  for (;;) {
    const report = await store.chargeRecurringPeriod(input);
    if (report.kind === 'done') break;
    if (report.kind === 'soon') await sleep(report.afterMs);
    if (report.kind === 'again' && report.charge !== null) {
      done = `Charged up to period ${report.period}, as ${report.charge}.`;
      setCurrentDetails(done);
    }
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof recurringChargeRenewal>(input);
  }
  setCurrentDetails(done);
}
