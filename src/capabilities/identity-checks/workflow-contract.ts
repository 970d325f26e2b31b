import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `identityCheck`. */
export const identityCheckContract = {
  type: 'identityCheck',
  labels: {
    record: 'identity check',
    provider: 'identity provider',
    payment: 'check',
    pay: 'verify the customer',
    paid: 'verified the customer',
    meanwhile: 'The number is sealed',
    release: 'the number is erased',
    late: 'a result that comes later waits for an operator',
    suspenseDebit: 'a failed check becomes verified',
  },
} as const satisfies InstructionContract;
