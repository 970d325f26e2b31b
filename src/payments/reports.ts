import type { PursuitPolicy, RecordRef } from '../pursuits/reports.js';

/**
 * What the workflow of a charge or a refund is started with. As in pursuits/reports.ts nothing of persons may be added.
 */
export type PaymentInput = RecordRef & {
  /** Whose room a first send takes where the workflow runs: see `paymentCalls`. */
  calls: string;
  /** The queue of these calls, with its own rate limit. */
  queue: string;
  /** Attention is due so long after this, unless it is the customer's turn. */
  acceptedAtMs: number;
  policy: PursuitPolicy;
};
