import { Worker, type NativeConnection, type WorkflowBundleOption } from '@temporalio/worker';
import { createActivities, type ActivityDeps } from '../activities/index.js';
import { bulkQueue, providerQueue } from '../src/transfers/starter.js';
import { BATCH_PART } from '../workflows/policies.js';
import { webhooksQueue } from '../src/webhooks/out/reports.js';

export type WorkerSettings = {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  workflowBundle: WorkflowBundleOption;
  providers: { name: string; callsPerSecond: number }[];
  activities: ActivityDeps;
};

/** In-flight work has this long to end before a stopping worker lets go of it. */
const SHUTDOWN_GRACE = '20s';

/** Part of a provider's calls per second that is kept for batches: neither kind ever waits for all of the other. */
const BULK_SHARE = 0.5;
/** Parts of batches at once in one process. */
const MAX_PARTS = 8;

/** Attempts at webhooks in one process: they mostly wait, for receivers that may take 10 s each. */
const MAX_WEBHOOK_ATTEMPTS = 500;

/**
 * One worker for workflows and their writes to our own store, and one for each provider's calls: a queue per
 * provider keeps its rate limit, and a slow provider holds back no other. Parts of batches have a
 * queue beside it, and webhooks that failed one of their own.
 */
export async function createWorkers(settings: WorkerSettings): Promise<Worker[]> {
  const { connection, namespace, taskQueue, workflowBundle, providers } = settings;
  const activities = createActivities(settings.activities);
  const common = { connection, namespace, activities, shutdownGraceTime: SHUTDOWN_GRACE } as const;
  const main = await Worker.create({
    ...common,
    taskQueue,
    workflowBundle,
    maxCachedWorkflows: 1_000,
    maxConcurrentWorkflowTaskExecutions: 100,
    maxConcurrentLocalActivityExecutions: 200,
  });
  const calls = await Promise.all(
    providers.map((provider) =>
      Worker.create({
        ...common,
        taskQueue: providerQueue(taskQueue, provider.name),
        maxConcurrentActivityTaskExecutions: 200,
        maxTaskQueueActivitiesPerSecond: provider.callsPerSecond * (1 - BULK_SHARE),
      }),
    ),
  );
  const parts = await Promise.all(
    providers.map((provider) =>
      Worker.create({
        ...common,
        taskQueue: bulkQueue(taskQueue, provider.name),
        maxConcurrentActivityTaskExecutions: MAX_PARTS,
        maxConcurrentActivityTaskPolls: 2,
        maxTaskQueueActivitiesPerSecond: (provider.callsPerSecond * BULK_SHARE) / BATCH_PART,
      }),
    ),
  );
  const webhooks = await Worker.create({
    ...common,
    taskQueue: webhooksQueue(taskQueue),
    workflowBundle,
    maxCachedWorkflows: 200,
    maxConcurrentWorkflowTaskExecutions: 20,
    maxConcurrentActivityTaskExecutions: MAX_WEBHOOK_ATTEMPTS,
  });
  return [main, ...calls, ...parts, webhooks];
}
