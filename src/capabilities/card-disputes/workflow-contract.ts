import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

/** The contract of the workflow `cardDispute`. Its labels are the texts for operators about a dispute or its withdrawal. */
export const cardDisputeContract = {
  type: 'cardDispute',
  labels: {
    record: 'request',
    provider: 'issuer',
    payment: 'request',
    pay: 'carry out the request',
    paid: 'carried out the request',
    meanwhile: 'No money moves',
    release: 'the payment can be disputed again, or the dispute goes on',
    late: 'a dispute that the issuer pursues after all is open',
    suspenseDebit: 'the attention is cleared',
  },
} as const satisfies InstructionContract;

/** The input of `cardDisputeWatch`. `taskQueue` is that of the calls to the issuer. */
export type DisputeWatchInput = { tenantId: string; id: string; taskQueue?: string };

/** The result of a check of a dispute: whether it is open, and when the issuer is asked about it. Zero: now. */
export type DisputeCheck = { open: false } | { open: true; askInMs: number };

/** The id of the workflow that asks the issuer about an open dispute. */
export const disputeWatchWorkflowId = (id: string) => `card-dispute-watch/${id}`;
