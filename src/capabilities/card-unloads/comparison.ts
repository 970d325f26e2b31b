import type { GroupCommit } from '../../core/commit/group-commit.js';
import { asPaymentAnswer } from '../../core/providers/card-issuer.js';
import { ProviderNotConfigured } from '../../core/providers/not-configured.js';
import type { Reconciled } from '../../core/reconciliation/comparison.js';
import { paymentAgrees } from '../../core/reconciliation/payment-answers.js';
import type { Funding } from '../cards/card-operation.js';
import { reconciledOperations, type OperationComparisonDeps } from '../cards/index.js';
import { commitUnloadFact } from './mutations.js';
import { cardUnloadContract } from './workflow-contract.js';

/** Unloadings, as they are compared with their issuers. */
export const reconciledUnloads = (
  deps: OperationComparisonDeps & { groupCommit: GroupCommit },
): Reconciled =>
  reconciledOperations(deps, {
    kind: 'card-unloads',
    types: ['unload'],
    labels: cardUnloadContract.labels,
    async ask({ _id: id }, issuer, signal) {
      if (!issuer.findUnload) throw new ProviderNotConfigured(issuer.name, 'unloadings');
      return asPaymentAnswer(await issuer.findUnload(id, signal));
    },
    agrees: (operation, answer) => paymentAgrees(operation as Funding, answer),
    applyFact: (operation, fact) => commitUnloadFact(deps.groupCommit, operation, fact),
  });
