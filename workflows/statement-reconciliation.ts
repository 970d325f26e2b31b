import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type {
  RecordCounts,
  StatementReconciliationInput,
} from '../src/core/reconciliation/workflow-contract.js';
import { statementPage } from './policies.js';
import { reconcilePages } from './reconciliation-pages.js';

const { reconcileStatements } = proxyActivities<Activities>(statementPage);

/**
 * Reads the statements of one provider, one for each of the last days, and compares them with the ledger, at a share of the
 * provider's rate. A Schedule starts it; its id is `statement-reconciliation/<queue>/<provider>`.
 */
export async function statementReconciliation(
  input: StatementReconciliationInput,
): Promise<RecordCounts> {
  const { provider, days, perSecond } = input;
  return reconcilePages(input, {
    of: 'rows',
    compare: (position) => reconcileStatements({ provider, days, perSecond, position }),
    continueFrom: (progress) =>
      continueAsNew<typeof statementReconciliation>({ ...input, ...progress }),
  });
}
