import type { GroupCommit } from '../../core/commit/group-commit.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { asPaymentAnswer } from '../../core/providers/card-issuer.js';
import type { VerifyAnswer } from '../../core/providers/transfer-provider.js';
import type { Reconciled } from '../../core/reconciliation/comparison.js';
import { paymentAgrees } from '../../core/reconciliation/payment-answers.js';
import { FUNDING_TYPES, bookedMinor, type Funding } from '../cards/card-operation.js';
import { reconciledOperations, type OperationComparisonDeps } from '../cards/index.js';
import { commitFundingFact } from './mutations.js';
import { aboutFunding } from './provider-calls.js';
import { cardFundingContract } from './workflow-contract.js';

/**
 * Fundings, as they are compared with their issuers. A just-in-time funding that may have been submitted and missed its deadline
 * is compared by its fund reversal, which has its hold.
 */
export const reconciledFundings = (
  deps: OperationComparisonDeps & { groupCommit: GroupCommit },
): Reconciled =>
  reconciledOperations(deps, {
    kind: 'card-fundings',
    types: [...FUNDING_TYPES, 'fund_reversal'],
    except: {
      $nor: [{ 'failure.code': 'deadline_exceeded', type: 'jit_fund', submissions: { $gt: 0 } }],
    },
    labels: cardFundingContract.labels,
    async ask(operation, issuer, signal) {
      const about = await aboutFunding(deps.cards.operations, operation);
      return asPaymentAnswer(await issuer.findFunding(about, signal));
    },
    agrees: (operation, answer) => fundingAgrees(operation as Funding, answer),
    applyFact: (operation, fact) => commitFundingFact(deps.groupCommit, operation, fact),
  });

/** A funding that `reconciledFundings` leaves out, if it was open when the comparison read it. */
const isComparedByReversal = ({ type, failure, submissions }: Funding): boolean =>
  type === 'jit_fund' && failure?.code === 'deadline_exceeded' && submissions > 0;

/** The answers after which nothing of a funding is on the card. */
const NOT_ON_CARD: ReadonlySet<VerifyAnswer['kind']> = new Set([
  'reversed',
  'rejected',
  'not_found',
]);

/** True if the answer names the amount of the operation, or none. */
const isOfItsAmount = (operation: Funding, answer: VerifyAnswer): boolean =>
  !('amountMinor' in answer) ||
  answer.amountMinor === null ||
  answer.amountMinor === bookedMinor(operation);

/** True if the issuer's answer allows the state of a funding or of a fund reversal. */
export function fundingAgrees(operation: Funding, answer: VerifyAnswer): boolean {
  if (isComparedByReversal(operation)) return true;
  if (operation.reverses_operation_id === null) return paymentAgrees(operation, answer);
  // An open reversal asks the issuer to take the funding back.
  if (isOpen(operation) && answer.kind === 'succeeded') return true;
  const isReleased = operation.status === 'failed' && !operation.in_suspense;
  if (isReleased && NOT_ON_CARD.has(answer.kind)) return isOfItsAmount(operation, answer);
  return paymentAgrees(operation, answer);
}
