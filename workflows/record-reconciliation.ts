import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type {
  RecordCounts,
  RecordReconciliationInput,
} from '../src/core/reconciliation/workflow-contract.js';
import { reconciliationPage } from './policies.js';
import { reconcilePages } from './reconciliation-pages.js';

const { reconcileRecords } = proxyActivities<Activities>(reconciliationPage);

/**
 * Compares the records of one capability with their providers, page by page and at a share of their rate. A Schedule starts it;
 * its id is `record-reconciliation/<queue>/<kind>`.
 */
export async function recordReconciliation(
  input: RecordReconciliationInput,
): Promise<RecordCounts> {
  const { kind, days, perSecond } = input;
  return reconcilePages(input, {
    of: kind,
    compare: (position) => reconcileRecords({ kind, days, perSecond, position }),
    continueFrom: (progress) =>
      continueAsNew<typeof recordReconciliation>({ ...input, ...progress }),
  });
}
