import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type {
  ReconciliationCounts,
  TransferReconciliationInput,
} from '../src/capabilities/transfers/workflow-contract.js';
import { RECONCILIATION_PAUSE_MS, reconciliationPage } from './policies.js';

const { reconcileTransfers } = proxyActivities<Activities>(reconciliationPage);

/**
 * Compares the ended transfers of one provider with the provider, page by page and at a share of its rate, so that a
 * reversal whose message was lost is found. A Schedule starts it; its id is `transfer-reconciliation/<queue>/<provider>`.
 * While the provider answers nothing, it pauses and repeats the page.
 */
export async function transferReconciliation(
  input: TransferReconciliationInput,
): Promise<ReconciliationCounts> {
  let { position, counts } = input;
  let pauseMs = RECONCILIATION_PAUSE_MS.first;
  for (;;) {
    const page = await reconcileTransfers({ ...input, position });
    if (page.counts.asked > 0 && page.counts.unanswered === page.counts.asked) {
      setCurrentDetails('The provider does not answer. The same page is repeated after a pause.');
      await sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, RECONCILIATION_PAUSE_MS.longest);
    } else {
      pauseMs = RECONCILIATION_PAUSE_MS.first;
      ({ position } = page);
      counts = sumOf(counts, page.counts);
      setCurrentDetails(
        `${counts.asked} transfers looked up, ${counts.differing} differed, ${counts.settled} corrected.`,
      );
      if (position === null) return counts;
    }
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof transferReconciliation>({ ...input, position, counts });
  }
}

const sumOf = (a: ReconciliationCounts, b: ReconciliationCounts): ReconciliationCounts => ({
  asked: a.asked + b.asked,
  unanswered: a.unanswered + b.unanswered,
  differing: a.differing + b.differing,
  settled: a.settled + b.settled,
});
