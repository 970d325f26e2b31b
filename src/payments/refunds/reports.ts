import type { PursuitPolicy, RecordRef } from '../../pursuits/reports.js';

/** What the workflow of a refund is started with. As in pursuits/reports.ts nothing of persons may be added. */
export type RefundInput = RecordRef & {
  /** Whose room a first send takes where the workflow runs: see `paymentCalls`. */
  calls: string;
  /** The queue of these calls, with its own rate limit. */
  queue: string;
  acceptedAtMs: number;
  policy: PursuitPolicy;
};
