import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** The contract of the workflow `cardUnload`. Its labels are the texts for operators about an unloading. */
export const cardUnloadContract = {
  type: 'cardUnload',
  labels: {
    record: 'unloading',
    provider: 'issuer',
    payment: 'unloading',
    pay: 'give back the balance',
    paid: 'given back',
    meanwhile: 'The balance is held on the card',
    release: 'the balance stays on the card',
    late: 'a late unloading is booked from the card to the wallet',
    suspenseDebit: 'the attention is cleared',
  },
} as const satisfies InstructionContract;
