import type { PursuitPolicy, RecordRef } from '../pursuits/reports.js';

/**
 * What the workflow of a card's operation is started with. As in pursuits/reports.ts nothing of persons may be added,
 * nor of the card what its issuer told of it.
 */
export type OperationInput = RecordRef & {
  /** Whose room a first send takes where the workflow runs: see `issuerCalls`. */
  calls: string;
  /** The queue of these calls, with its own rate limit. */
  queue: string;
  acceptedAtMs: number;
  policy: PursuitPolicy;
};

/** The workflow of a card is given the card alone: what is under way it asks for, again and again. */
export type CardControlInput = Omit<OperationInput, 'id' | 'acceptedAtMs'> & { card: string };
