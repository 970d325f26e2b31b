import type { RecordRef } from '../../core/instructions/workflow-contract.js';

/** Input of `recurringChargeRenewal`. */
export type RenewalInput = RecordRef;

/** Result of one check of the next period. */
export type RenewalResult =
  /** A period was charged, by this run (`chargeId`) or by another one (null). Check again. */
  | { kind: 'repeat'; chargeId: string | null; period: number }
  /** The next period begins after `afterMs`. */
  | { kind: 'soon'; afterMs: number }
  /** No period is due. */
  | { kind: 'done' };
