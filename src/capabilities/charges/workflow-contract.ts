import type { InstructionPolicy, RecordRef } from '../../core/instructions/workflow-contract.js';

/**
 * What the workflow of a charge or a refund is started with. As in core/instructions/workflow-contract.ts nothing of persons may be added.
 */
export type PaymentInput = RecordRef & {
  /** Whose room a first send takes where the workflow runs: see `paymentRateLimitKey`. */
  rateLimitKey: string;
  /** The queue of these calls, with its own rate limit. */
  taskQueue: string;
  /** Attention is due so long after this, unless it is the customer's turn. */
  acceptedAtMs: number;
  policy: InstructionPolicy;
};
