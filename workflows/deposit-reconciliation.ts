import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type {
  DepositReconciliationInput,
  DepositReconciliationPage,
  DepositReconciliationPosition,
} from '../src/capabilities/deposits/workflow-contract.js';
import { BOUNDS_OF_OLDER_RUNS, RECONCILIATION_PAUSE_MS, reconciliationPage } from './policies.js';

const { reconcileDeposits } = proxyActivities<Activities>(reconciliationPage);

/**
 * Finds the deposits of one provider that no message has reported: in the provider's list, and by making it report again. A
 * Schedule starts it; its id is `deposit-reconciliation/<queue>/<provider>`. While the provider does not answer
 * about its list, it pauses and repeats the page; if it does not answer about accounts, it ends.
 */
export async function depositReconciliation(
  input: DepositReconciliationInput,
): Promise<{ found: number }> {
  const { maxPages = BOUNDS_OF_OLDER_RUNS.depositPages } = input;
  let position: DepositReconciliationPosition | null = null;
  let pauseMs = RECONCILIATION_PAUSE_MS.first;
  let found = 0;
  // The next run of the Schedule goes on with the accounts that wait longest, so a run may end early.
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: DepositReconciliationPage = await reconcileDeposits({ ...input, position });
    found += page.found;
    setCurrentDetails(`${found} deposits found that no message has reported.`);
    position = page.next;
    if (position === null) break;
    if (page.unanswered) {
      await sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, RECONCILIATION_PAUSE_MS.longest);
    } else pauseMs = RECONCILIATION_PAUSE_MS.first;
  }
  return { found };
}
