import type { OperationInput } from '../cards/workflow-contract.js';
import type { InstructionLabels } from '../../core/instructions/labels.js';

/** The input of a funding's workflow. Workflow histories keep it, so it must not hold personal data. */
export type FundingInput = OperationInput & {
  /** The deadline of a just-in-time funding; null for other fundings. */
  deadlineAtMs: number | null;
};

/** A just-in-time funding after the check of its deadline: `over` if it has ended, and the id of its reversal, if any. */
export type ExpireFundingResult = { over: boolean; fundReversal: string | null };

/** The texts for operators about a funding. */
export const cardFundingLabels: InstructionLabels = {
  record: 'funding',
  provider: 'issuer',
  payment: 'funding',
  pay: 'fund',
  paid: 'funded',
  meanwhile: 'The money is held',
  release: 'the hold is released',
  late: 'a funding goes to suspense',
  suspenseDebit: 'the wallet is debited for a funding in suspense',
};

/** The texts for operators about the reversal of a just-in-time funding. */
export const fundReversalLabels: InstructionLabels = {
  ...cardFundingLabels,
  record: 'late funding',
  meanwhile:
    'The funding has failed at its deadline; its hold is kept until nothing of it is on the card',
};
