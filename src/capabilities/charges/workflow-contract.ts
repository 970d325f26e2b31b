import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `charge`. */
export const chargeContract = {
  type: 'charge',
  labels: {
    record: 'charge',
    provider: 'provider',
    payment: 'payment',
    pay: 'collect it',
    paid: 'was paid',
    meanwhile: 'Nothing is credited yet',
    release: 'the charge fails',
    late: 'a payment that is proven later is credited',
    suspenseDebit: 'its attention is then cleared',
    hasAttempts: true,
  },
} as const satisfies InstructionContract;
