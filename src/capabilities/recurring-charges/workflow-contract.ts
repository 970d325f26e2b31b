import type { RecordRef } from '../../core/instructions/workflow-contract.js';

/** What crosses Temporal for recurring charges: ids and numbers. */
export type RenewalInput = RecordRef;

export type RenewalResult =
  /** Look at once again: a period was charged, by us (`charge`) or by somebody else. */
  | { kind: 'again'; charge: string | null; period: number }
  /** The next period begins in a moment. */
  | { kind: 'soon'; afterMs: number }
  /** Nothing is due. */
  | { kind: 'done' };
