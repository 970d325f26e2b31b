import type { GroupCommit } from '../../core/commit/group-commit.js';
import { aboutOf } from '../../core/instructions/instruction.js';
import { asPaymentAnswer } from '../../core/providers/card-issuer.js';
import type { VerifyAnswer } from '../../core/providers/transfer-provider.js';
import { ProviderNotConfigured } from '../../core/providers/not-configured.js';
import type { Reconciled } from '../../core/reconciliation/comparison.js';
import { paymentAgrees } from '../../core/reconciliation/payment-answers.js';
import type { CardOperation, Funding } from '../cards/card-operation.js';
import { reconciledOperations, type OperationComparisonDeps } from '../cards/index.js';
import { commitUnloadFact } from './mutations.js';
import { everGivenMinor } from './transitions.js';
import { cardUnloadContract } from './workflow-contract.js';

/** True if the issuer has taken back as much as is booked as taken back: a part, or the whole in several parts. */
function isTakenBack(operation: Funding, answer: VerifyAnswer): boolean {
  if (answer.kind !== 'reversed') return false;
  const { status, reversed_at: reversedAt, taken_back_minor: takenMinor } = operation;
  if (reversedAt !== null) return answer.amountMinor === everGivenMinor(operation);
  return status === 'completed' && answer.amountMinor === takenMinor;
}

/** True if the issuer's answer allows the state of an unloading. */
export const unloadAgrees = (operation: CardOperation, answer: VerifyAnswer): boolean =>
  paymentAgrees(operation as Funding, answer) || isTakenBack(operation as Funding, answer);

/** Unloadings, as they are compared with their issuers. */
export const reconciledUnloads = (
  deps: OperationComparisonDeps & { groupCommit: GroupCommit },
): Reconciled =>
  reconciledOperations(deps, {
    kind: 'card-unloads',
    types: ['unload'],
    labels: cardUnloadContract.labels,
    async ask(operation, issuer, signal) {
      if (!issuer.findUnload) throw new ProviderNotConfigured(issuer.name, 'unloadings');
      return asPaymentAnswer(await issuer.findUnload(aboutOf(operation), signal));
    },
    agrees: unloadAgrees,
    applyFact: (operation, fact) => commitUnloadFact(deps.groupCommit, operation, fact),
  });
