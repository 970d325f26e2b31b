import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `cardIssuance`. */
export const cardIssuanceContract = {
  type: 'cardIssuance',
  labels: {
    record: 'card issuance',
    provider: 'issuer',
    payment: 'card',
    pay: 'issue the card',
    paid: 'issued the card',
    meanwhile: 'The card cannot be used yet',
    release: 'the card fails',
    late: 'a card that is issued after all needs an operator',
    suspenseDebit: 'a failed card then becomes active',
  },
} as const satisfies InstructionContract;
