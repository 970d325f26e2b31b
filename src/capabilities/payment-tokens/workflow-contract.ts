import type { RecordRef } from '../../core/instructions/workflow-contract.js';

/** Input of `paymentTokenRevocation`. `taskQueue`: the queue of the provider's calls. */
export type TokenRevocationInput = RecordRef & { taskQueue: string };

/** Input of `paymentTokenSetup`. `pollMaxMs`: the longest pause between two questions. */
export type TokenSetupInput = RecordRef & { taskQueue: string; pollMaxMs: number };

/** `pending`: the page is not open yet. `open`: it waits for the customer. `over`: nothing is left to do. */
export type SetupProgress = 'pending' | 'open' | 'over';
