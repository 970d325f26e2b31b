import type {
  InstructionContract,
  InstructionInput,
  InstructionLabels,
} from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `cardFunding`. */
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
    late: 'a funding goes to suspense',
    suspenseDebit: 'one in suspense is then paid by the wallet',
  },
} as const satisfies InstructionContract;

/** Labels of the same workflow while it reverses a just-in-time funding that missed its deadline. */
export const fundReversalLabels: InstructionLabels = {
  ...cardFundingContract.labels,
  record: 'late funding',
  meanwhile:
    'The just-in-time funding missed its deadline and was declined; its hold is kept until the issuer confirms that nothing of it is on the card',
};

/** Input of `cardFunding`. */
export type CardFundingInput = InstructionInput & {
  /** Deadline of a just-in-time funding; null for other fundings. */
  deadlineAtMs: number | null;
};

/** A just-in-time funding at its deadline: whether its record is closed, and the operation that reverses it, if any. */
export type ExpireCardFundingResult = { closed: boolean; fundReversalId: string | null };
