import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

/**
 * A provider call. It is never retried by Temporal: a silent call may have been executed, so the workflow gets "unknown"
 * and verifies. Its time covers the provider's own time-out (10 s at most) and our writes.
 */
export const providerCall: ActivityOptions = {
  // A call that has not started was not submitted. After this the workflow reads its messages and calls again.
  scheduleToStartTimeout: '5m',
  startToCloseTimeout: '20s',
  retry: { maximumAttempts: 1 },
};

/** A provider call in the workflow's own process: short, and never retried by Temporal either. */
export const localProviderCall: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  retry: { maximumAttempts: 1 },
};

/** The calls of a micro-batch: as short as one call, with time to apply their outcomes. */
export const localMicroBatch: LocalActivityOptions = {
  ...localProviderCall,
  startToCloseTimeout: '30s',
};

/** A read or a repeatable write in our own database, retried until it succeeds. */
export const ownStore: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
};

/** Repeatable work of our own on a rate-limited queue, retried until it succeeds. */
export const ownWork: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** First pause before a provider is polled. It doubles with every poll that brings no outcome. */
export const FIRST_POLL_MS = 1_000;

/** First pause while somebody else has to act, for example a customer on a payment page: that usually signals the run. */
export const IDLE_POLL_MS = 15_000;

/** Limit of possible submissions of one instruction. Each one after the first needs proof that the last had no effect. */
export const MAX_SUBMISSIONS = 4;

/** Consecutive unknown outcomes after which an error answer of the provider raises attention. */
export const MAX_ERRORS = 12;

/** Transfers per chunk of a bulk transfer: enough to spread an activity's cost, few enough to end while a worker drains. */
export const BULK_TRANSFER_CHUNK = 25;
/** Chunks of one bulk transfer in flight, so that a large one leaves capacity for others. */
export const CHUNKS_AT_ONCE = 4;

/**
 * A chunk of a bulk transfer. Its time covers many calls, some of which the provider may postpone. It may be retried:
 * each transfer is submitted at most once, because its submit permit is used up.
 */
export const bulkTransferChunk: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
};

/**
 * An attempt to deliver a webhook. Its time covers the receiver's limit (10 s) and our writes. It fails only if our
 * database fails, and is then retried without limit: receivers must accept repeats.
 */
export const webhookAttempt: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};
