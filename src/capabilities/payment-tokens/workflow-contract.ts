import type { RecordRef } from '../../core/instructions/workflow-contract.js';

/** Input of `paymentTokenRevocation`. `taskQueue`: the queue of the provider's calls. */
export type TokenRevocationInput = RecordRef & { taskQueue: string };
