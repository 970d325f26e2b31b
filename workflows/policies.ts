import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

/**
 * A provider call. It is never retried by Temporal: a silent call may have been executed, so the workflow gets "unknown"
 * and verifies. Its time covers the provider's own time-out (10 s at most) and our writes.
 */
export const providerCall: ActivityOptions = {
  // The queue holds the provider's rate, so a call waits there for as long as it takes; a command ends the wait.
  startToCloseTimeout: '20s',
  // A call that has begun is awaited even if it is cancelled: its answer decides whether anything may be submitted again.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { maximumAttempts: 1 },
};

/** The order of the calls in a provider's queue. Polls have the server's default, 3, and are in order of their waiting. */
export const ofCommand = { priority: { priorityKey: 1 } };
export const ofFirstSubmission = { priority: { priorityKey: 2 } };

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

/**
 * A pause between two attempts of a local activity that is longer than this is a timer, so that the workflow task ends after each
 * attempt. By default the task is kept for pauses of up to a minute, and it occupies one of the process's few slots.
 */
const LOCAL_RETRY_THRESHOLD = '100ms';

/** A read in our own database, or a write that no document can refuse: retried until it succeeds. */
export const ownReads: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  localRetryThreshold: LOCAL_RETRY_THRESHOLD,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/**
 * A repeatable write in our own database: a series of attempts, which lasts longer than a failover. instruction/blocked.ts repeats
 * the series.
 */
export const ownStore: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  localRetryThreshold: LOCAL_RETRY_THRESHOLD,
  retry: { initialInterval: '200ms', backoffCoefficient: 4, maximumAttempts: 4 },
};

/** First and longest pause between two series of attempts at a write that our own database refuses. */
export const BLOCKED_PAUSE_MS = { first: 5_000, longest: 600_000 };

/** Repeatable work of our own on a rate-limited queue, retried until it succeeds. */
export const ownWork: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** First pause before a provider is polled. It doubles with every poll that brings no outcome. */
export const FIRST_POLL_MS = 1_000;

/** First pause while somebody else has to act, for example a customer on a payment page: that usually signals the run. */
export const IDLE_POLL_MS = 15_000;

/**
 * The bounds of runs whose input names none, which started before 2026-11-29. Bounds decide the commands of a run: if a version of
 * the code changed one, the replay of a run in flight would differ from its history and fail. So each run keeps the bounds that
 * its starter names in its input, and these never change.
 */
export const BOUNDS_OF_OLDER_RUNS = {
  chunkSize: 25,
  chunksAtOnce: 4,
  deliveryRounds: 250,
  pageRepeats: 5,
  depositPages: 500,
} as const;

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
 * A round of attempts to deliver webhooks to an endpoint. It starts attempts for eight seconds; its time also covers the
 * receiver's limit (10 s) and our writes. It fails only if our database fails, and is then retried without limit: receivers
 * must accept repeats.
 */
export const webhookRound: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** A page of a reconciliation: many paced lookups at the provider. A repeated page changes nothing that it has applied. */
export const reconciliationPage: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** A page of a statement: a call for each of its rows, at a share of the rate. A repeated page adds no row twice. */
export const statementPage: ActivityOptions = {
  ...reconciliationPage,
  // Up to 300 calls. A provider of tests alone allows four a minute.
  startToCloseTimeout: '3 hours',
};

/** First and longest pause of a reconciliation while the provider does not answer. */
export const RECONCILIATION_PAUSE_MS = { first: 5_000, longest: 600_000 };

/** A verification of the whole audit log. A repeated one notes the same. */
export const auditVerificationRun: ActivityOptions = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};

/** A step of the ledger's closing: some seconds, or one large day. A repeated step closes nothing twice. */
export const ledgerClosingStep: ActivityOptions = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
};
