import type { InstructionPolicy, RecordRef } from '../../core/instructions/workflow-contract.js';

/**
 * What the workflow of a card's operation is started with. As in core/instructions/workflow-contract.ts nothing of persons may be added,
 * nor of the card what its issuer told of it.
 */
export type OperationInput = RecordRef & {
  /** Whose room a first send takes where the workflow runs: see `issuerRateLimitKey`. */
  rateLimitKey: string;
  /** The queue of these calls, with its own rate limit. */
  taskQueue: string;
  acceptedAtMs: number;
  policy: InstructionPolicy;
};

/** The workflow of a card is given the card alone: what is under way it asks for, again and again. */
export type CardStateInput = Omit<OperationInput, 'id' | 'acceptedAtMs'> & { card: string };
