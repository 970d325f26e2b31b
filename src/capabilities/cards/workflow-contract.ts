import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `cardIssuance`. */
export const cardIssuanceContract = {
  type: 'cardIssuance',
  labels: {
    record: 'card order',
    provider: 'issuer',
    payment: 'card',
    pay: 'issue the card',
    paid: 'issued the card',
    meanwhile: 'The card can not be used yet',
    release: 'the card is given up',
    late: 'a card that shows up waits for an operator',
    suspenseDebit: 'one that had been given up is then active',
  },
} as const satisfies InstructionContract;
