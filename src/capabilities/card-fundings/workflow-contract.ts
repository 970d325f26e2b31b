import type { OperationInput } from '../cards/workflow-contract.js';
import type { InstructionLabels } from '../../core/instructions/labels.js';

/** As in core/instructions/workflow-contract.ts, nothing of persons may be added here. */
export type FundingInput = OperationInput & {
  /** Of a just-in-time funding. */
  deadlineAtMs: number | null;
};

/** How a just-in-time funding stands: whether its deadline can do nothing to it any more, and who unwinds it. */
export type ExpireFundingResult = { over: boolean; fundReversal: string | null };

export const cardFundingLabels: InstructionLabels = {
  record: 'funding',
  provider: 'issuer',
  payment: 'funding',
  pay: 'fund',
  paid: 'funded',
  meanwhile: 'The money is held',
  release: 'the hold is released',
  late: 'a funding goes to suspense',
  suspenseDebit: 'one in suspense is then paid by the wallet',
};

/** Of a just-in-time funding that came too late for who asked for it. */
export const fundReversalLabels: InstructionLabels = {
  ...cardFundingLabels,
  record: 'late funding',
  meanwhile:
    'The funding has failed for who asked for it, its hold is kept until nothing of it is on the card',
};
