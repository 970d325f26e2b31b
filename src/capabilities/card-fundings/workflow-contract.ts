import type {
  InstructionContract,
  InstructionInput,
  InstructionLabels,
} from '../../core/instructions/workflow-contract.js';

/** The contract of the workflow `cardFunding`. Its labels are the texts for operators about a funding. */
export const cardFundingContract = {
  type: 'cardFunding',
  labels: {
    record: 'funding',
    provider: 'issuer',
    payment: 'funding',
    pay: 'fund',
    paid: 'funded',
    meanwhile: 'The money is held',
    release: 'the hold is released',
    late: 'a late funding goes to suspense',
    suspenseDebit: 'the wallet is debited for a funding in suspense',
  },
} as const satisfies InstructionContract;

/** The texts for operators about the reversal of a just-in-time funding, which the same workflow executes. */
export const fundReversalLabels: InstructionLabels = {
  ...cardFundingContract.labels,
  record: 'late funding',
  meanwhile:
    'The funding has failed at its deadline; its hold is kept until nothing of it is on the card',
};

/** The input of `cardFunding`. Workflow histories keep it, so it must not hold personal data. */
export type CardFundingInput = InstructionInput & {
  /** The deadline of a just-in-time funding; null for other fundings. */
  deadlineAtMs: number | null;
};

/** A just-in-time funding after the check of its deadline: whether it has ended, and the id of its reversal, if any. */
export type ExpireCardFundingResult = { closed: boolean; fundReversalId: string | null };
