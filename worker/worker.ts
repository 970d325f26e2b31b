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
import type { CallRates } from '../src/core/providers/call-rates.js';
import { noTracer, type Tracer } from '../src/platform/tracing/tracer.js';
import { activitySpans } from './activity-spans.js';
import { answersNoted } from './answers-noted.js';
import { createCallSlots } from './call-slots.js';
import { CHUNK_SIZE } from '../src/capabilities/bulk-transfers/workflow-contract.js';

/** Settings of the workers of one process. */
type WorkerSettings = {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  workflowBundle: WorkflowBundleOption;
  providers: readonly RateLimit[];
  activities: ActivityDeps;
  /** Records a span for each activity; none if left out. */
  tracer?: Tracer;
  /** The version of the workers; null or left out without versions. */
  deployment?: { name: string; buildId: string } | null;
  /** Concurrent workflow tasks; MAX_WORKFLOW_TASKS if left out. */
  maxWorkflowTasks?: number;
};

/** Work in flight has this long to end before a stopping worker abandons it. */
const SHUTDOWN_GRACE = '20s';

/**
 * Wall-clock limit of one workflow activation; exceeding it ends the whole process. The SDK's default of 5 s is reached
 * by a starved or frozen process and by a thousand signals at once. Workflow tasks are limited to 10 s anyway, so this
 * only stops code that would never end. The option is missing in the SDK's types, but it has an effect.
 */
const ACTIVATION = { isolateExecutionTimeout: '2 minutes' };

/**
 * Concurrent workflow tasks in one process: more than the local submissions in flight (local-submission-limiter.ts), so
 * that slow ones do not block other workflows; few enough that a busy process ends each within its 10 s, because a
 * workflow task that takes longer is repeated.
 */
export const MAX_WORKFLOW_TASKS = 32;

/** Calls to one provider in flight in one process. */
const MAX_CALLS = 200;
/**
 * The server's own limit of a provider's queue, in its rates: only for the moments in which the workers' number is wrong. The
 * server divides it among the partitions of the queue, so it leaves room for an uneven division.
 */
const SERVER_LIMIT = 2;

/** Chunks of bulk transfers in flight in one process. */
const MAX_CHUNKS = 8;

/** Replays of provider events: in flight in one process, and per second over all processes. */
const MAX_REPLAYS = 10;
const REPLAYS_PER_SECOND = 100;

/** Rounds of webhook deliveries in flight in one process. They mostly wait for receivers (20 s at most). */
const MAX_WEBHOOK_ROUNDS = 200;

/** Creates one worker for each task queue of queues.ts. */
export async function createWorkers(settings: WorkerSettings): Promise<Worker[]> {
  const { connection, namespace, taskQueue, workflowBundle, providers } = settings;
  const { callRates } = settings.activities;
  const activities = createActivities(settings.activities);
  const common = {
    connection,
    namespace,
    activities,
    shutdownGraceTime: SHUTDOWN_GRACE,
    ...ACTIVATION,
    ...versionOf(settings.deployment ?? null),
  } as const;
  return Promise.all(
    queuesOf(taskQueue, providers).map((queue) =>
      Worker.create({
        ...common,
        taskQueue: queue.name,
        ...(hasWorkflows(queue) && { workflowBundle }),
        interceptors: {
          activity: [
            ...activitySpans(settings.tracer ?? noTracer),
            ...(queue.serves === 'calls' ? [answersNoted(queue.provider.name, callRates)] : []),
          ],
        },
        ...limitsOf(queue, callRates, settings.maxWorkflowTasks),
      }),
    ),
  );
}

/**
 * A workflow stays with the version that has started it, so that a new version never continues its history. No workflow says
 * otherwise by `versioningBehavior`: the server refuses that from workers without versions.
 */
function versionOf(
  deployment: { name: string; buildId: string } | null,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!deployment) return {};
  const version = { deploymentName: deployment.name, buildId: deployment.buildId };
  const defaultVersioningBehavior = 'PINNED';
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior },
  };
}

/** Slots of a worker that serves activities of a task queue alone: the SDK wants one of each kind. */
const NO_SLOTS = {
  workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 2 },
  localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
  nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
} as const;

const submissionsOf = (limit: RateLimit) => limit.submissions ?? limit;

/** The rate of all calls of a port's queue together. */
const perSecondOf = ({ callsPerSecond, submissions }: RateLimit): number =>
  callsPerSecond + (submissions?.callsPerSecond ?? 0);

function limitsOf(
  queue: Queue<RateLimit>,
  callRates: CallRates,
  maxWorkflowTasks = MAX_WORKFLOW_TASKS,
): Partial<WorkerOptions> {
  switch (queue.serves) {
    case 'workflows':
      return {
        maxCachedWorkflows: 1_000,
        maxConcurrentWorkflowTaskExecutions: maxWorkflowTasks,
        maxConcurrentLocalActivityExecutions: 200,
      };
    case 'calls':
      return {
        tuner: {
          ...NO_SLOTS,
          activityTaskSlotSupplier: createCallSlots({
            name: queue.provider.name,
            rates: callRates,
            most: MAX_CALLS,
          }),
        },
        maxTaskQueueActivitiesPerSecond: perSecondOf(queue.provider) * SERVER_LIMIT,
      };
    case 'bulk_transfers':
      return {
        maxConcurrentActivityTaskExecutions: MAX_CHUNKS,
        maxConcurrentActivityTaskPolls: 2,
        maxTaskQueueActivitiesPerSecond: submissionsOf(queue.provider).callsPerSecond / CHUNK_SIZE,
      };
    case 'webhooks':
      return {
        maxCachedWorkflows: 200,
        maxConcurrentWorkflowTaskExecutions: 20,
        maxConcurrentActivityTaskExecutions: MAX_WEBHOOK_ROUNDS,
      };
    case 'provider_event_replays':
      return {
        maxConcurrentActivityTaskExecutions: MAX_REPLAYS,
        maxTaskQueueActivitiesPerSecond: REPLAYS_PER_SECOND,
      };
  }
}
