import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `refund`. */
export const refundContract = {
  type: 'refund',
  labels: {
    record: 'refund',
    provider: 'provider',
    payment: 'refund',
    pay: 'refund',
    paid: 'refunded',
    meanwhile: 'The money is held',
    release: 'the hold is released',
    late: 'a late refund goes to suspense',
    returned: 'the amount is in the wallet again',
    suspenseDebit: 'one in suspense is then paid by the wallet',
  },
} as const satisfies InstructionContract;
