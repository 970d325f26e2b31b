import type { LocalActivityOptions, ActivityOptions } from '@temporalio/workflow';

/**
 * A call at a provider: asked once. A retry by the server would be a blind repeat, so silence comes back to the
 * workflow as "unknown". The time is what the provider's own time-out (10 s at most) and our store need.
 */
export const providerCall: ActivityOptions = {
  // Not begun is not sent: the workflow may look at its mail and ask again.
  scheduleToStartTimeout: '5m',
  startToCloseTimeout: '20s',
  retry: { maximumAttempts: 1 },
};

/** A call at a provider from where the workflow runs: short, and asked once like the other. */
export const localProviderCall: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  retry: { maximumAttempts: 1 },
};

/** The same for several at once, each as short, and what our store needs to book them. */
export const localMicroBatch: LocalActivityOptions = {
  ...localProviderCall,
  startToCloseTimeout: '30s',
};

/** A write to our own store: repeatable, and repeated until it works, however long the store is away. */
export const ownStore: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
};

/** Work of our own on a queue that paces it: repeatable, and repeated until it works. */
export const ownWork: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** The first pause before a provider is asked; doubled with every answer that settles nothing. */
export const FIRST_POLL_MS = 1_000;

/** The same where somebody else has to act first, who wakes us as a rule. */
export const IDLE_POLL_MS = 15_000;

/** How often one order may leave us. Each further send needs proof that the one before did nothing. */
export const MAX_SUBMISSIONS = 4;

/** So many errors in a row from a provider that does answer are reason enough to call an operator. */
export const MAX_ERRORS = 12;

/** Orders of a batch that one activity lets out: enough to make its cost small, few enough to end within a drain. */
export const BULK_TRANSFER_CHUNK = 25;
/** Parts of one batch at once, so that one large batch leaves room for others. */
export const CHUNKS_AT_ONCE = 4;

/**
 * A part of a batch: its time is that of many calls, some of which the provider may put off. It may be tried again: an
 * order that has left is not let out twice, for its permission is used up.
 */
export const bulkTransferChunk: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
};

/**
 * An attempt to deliver a webhook: the receiver's own time (10 s) and what our store needs. It fails only with our
 * store, and is then repeated, however long that is away: receivers expect repeats.
 */
export const webhookAttempt: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};
