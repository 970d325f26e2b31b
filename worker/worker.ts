import {
  Worker,
  type NativeConnection,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { createActivities, type ActivityDeps } from '../activities/index.js';
import {
  hasWorkflows,
  queuesOf,
  type RateLimit,
  type Queue,
} from '../src/platform/temporal/queues.js';
import { LOCAL_RATE_SHARE } from '../src/core/instructions/local-submission-limiter.js';
import { BULK_TRANSFER_CHUNK } from '../workflows/policies.js';

export type WorkerSettings = {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  workflowBundle: WorkflowBundleOption;
  providers: readonly RateLimit[];
  activities: ActivityDeps;
};

/** In-flight work has this long to end before a stopping worker lets go of it. */
const SHUTDOWN_GRACE = '20s';

/**
 * One turn of a workflow is stopped after this, counted by the clock on the wall, and Node does not survive that: it ends
 * the whole process. The SDK's own 5 s are met by a process that is starved or frozen, or by a thousand signals at once.
 * Ours are bounded by what a workflow task may take (10 s); here only what would never end is stopped. Not in the SDK's
 * types, and taken all the same.
 */
const ACTIVATION = { isolateExecutionTimeout: '2 minutes' };

/**
 * Turns of workflows at once in one process. More than the first tries under way to all providers (local-submission-limiter.ts), or
 * those that hang would hold back the others; few enough that a busy process ends each within the 10 s it has: what
 * takes longer is done again.
 */
export const MAX_WORKFLOW_TASKS = 32;

/** Part of a provider's calls per second that is kept for batches: neither kind ever waits for all of the other. */
const BULK_RATE_SHARE = 0.5;
/** Parts of batches at once in one process. */
const MAX_CHUNKS = 8;

/** Replays of stored events: at once in one process, and over all of them. */
const MAX_REPLAYS = 10;
const REPLAYS_PER_SECOND = 100;

/** Attempts at webhooks in one process: they mostly wait, for receivers that may take 10 s each. */
const MAX_WEBHOOK_ATTEMPTS = 500;

/** One worker for each queue of queues.ts: for workflows and their writes to our store, for providers' calls, for webhooks. */
export async function createWorkers(settings: WorkerSettings): Promise<Worker[]> {
  const { connection, namespace, taskQueue, workflowBundle, providers } = settings;
  const activities = createActivities(settings.activities);
  const common = {
    connection,
    namespace,
    activities,
    shutdownGraceTime: SHUTDOWN_GRACE,
    ...ACTIVATION,
  } as const;
  return Promise.all(
    queuesOf(taskQueue, providers).map((queue) =>
      Worker.create({
        ...common,
        taskQueue: queue.name,
        ...(hasWorkflows(queue) && { workflowBundle }),
        ...limitsOf(queue),
      }),
    ),
  );
}

function limitsOf(queue: Queue<RateLimit>): Partial<WorkerOptions> {
  switch (queue.serves) {
    case 'workflows':
      return {
        maxCachedWorkflows: 1_000,
        maxConcurrentWorkflowTaskExecutions: MAX_WORKFLOW_TASKS,
        maxConcurrentLocalActivityExecutions: 200,
      };
    case 'calls':
      return {
        maxConcurrentActivityTaskExecutions: 200,
        maxTaskQueueActivitiesPerSecond:
          queue.provider.callsPerSecond *
          (1 - LOCAL_RATE_SHARE - (queue.provider.bulkTransfersOf !== null ? BULK_RATE_SHARE : 0)),
      };
    case 'bulk_transfers':
      return {
        maxConcurrentActivityTaskExecutions: MAX_CHUNKS,
        maxConcurrentActivityTaskPolls: 2,
        maxTaskQueueActivitiesPerSecond:
          (queue.provider.callsPerSecond * BULK_RATE_SHARE) / BULK_TRANSFER_CHUNK,
      };
    case 'webhooks':
      return {
        maxCachedWorkflows: 200,
        maxConcurrentWorkflowTaskExecutions: 20,
        maxConcurrentActivityTaskExecutions: MAX_WEBHOOK_ATTEMPTS,
      };
    case 'provider_event_replays':
      return {
        maxConcurrentActivityTaskExecutions: MAX_REPLAYS,
        maxTaskQueueActivitiesPerSecond: REPLAYS_PER_SECOND,
      };
  }
}
