import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { TransferReconciliationInput } from '../src/capabilities/transfers/workflow-contract.js';
import type { RecordCounts } from '../src/core/reconciliation/workflow-contract.js';
import { reconciliationPage } from './policies.js';
import { reconcilePages } from './reconciliation-pages.js';
import { changed } from './versions.js';

const { reconcileTransfers } = proxyActivities<Activities>(reconciliationPage);

/**
 * Compares the ended transfers of one provider with the provider, page by page and at a share of its rate, so that a
 * reversal whose message was lost is found. A Schedule starts it; its id is `transfer-reconciliation/<queue>/<provider>`.
 */
export async function transferReconciliation(
  input: TransferReconciliationInput,
): Promise<RecordCounts> {
  return reconcilePages(input, {
    of: 'transfers',
    compare: (position) => reconcileTransfers({ ...input, position }),
    continueFrom: (progress) =>
      continueAsNew<typeof transferReconciliation>({ ...input, ...progress }),
    isBounded: () => changed('unanswered-pages'),
  });
}
