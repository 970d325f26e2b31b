import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `billPayment`. */
export const billPaymentContract = {
  type: 'billPayment',
  labels: {
    record: 'payment',
    provider: 'provider',
    payment: 'payment',
    pay: 'pay',
    paid: 'paid',
    meanwhile: 'The money is held',
    release: 'the hold is released',
    late: 'a late payment goes to suspense',
    returned: 'amount and fee are in the wallet again',
    undone: 'what is booked of it is taken back',
    suspenseDebit: 'one in suspense is then paid by the wallet',
  },
} as const satisfies InstructionContract;
