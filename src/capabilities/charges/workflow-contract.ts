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
    release: 'the charge is given up',
    late: 'a payment is credited, whenever it is proven',
    suspenseDebit: 'what contradicts it is then settled',
  },
} as const satisfies InstructionContract;
