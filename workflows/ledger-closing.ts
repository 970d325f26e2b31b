import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type {
  LedgerClosingCounts,
  LedgerClosingInput,
} from '../src/core/ledger/workflow-contract.js';
import { ledgerClosingStep } from './policies.js';

const { closeLedgerDays } = proxyActivities<Activities>(ledgerClosingStep);

/** Closes the days of the ledger that are over, tenant by tenant. A Schedule starts it; its id is `ledger-closing/<queue>`. */
export async function ledgerClosing(input: LedgerClosingInput): Promise<LedgerClosingCounts> {
  let { after, counts } = input;
  for (;;) {
    const step = await closeLedgerDays({ after, counts });
    counts = {
      closed: counts.closed + step.counts.closed,
      refused: counts.refused + step.counts.refused,
    };
    setCurrentDetails(`${counts.closed} days closed, ${counts.refused} refused.`);
    if (step.next === null) return counts;
    after = step.next;
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof ledgerClosing>({ after, counts });
    }
  }
}
