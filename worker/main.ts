import { Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { loadConfig } from '../src/shared/config.js';
import { backlogs } from '../src/composition/backlogs.js';
import { createDeps, type Deps } from '../src/composition/deps.js';
import { measureMoney } from '../src/composition/money-metrics.js';
import { supervisedRecords } from '../src/composition/supervision.js';
import { logFatalErrors } from '../src/shared/fatal-errors.js';
import { measureBacklogs } from '../src/platform/metrics/backlog.js';
import { measureClosings } from '../src/platform/metrics/closings.js';
import { measureQueues } from '../src/platform/metrics/queues.js';
import { serveMetrics } from '../src/platform/metrics/server.js';
import { createLocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import { ensureNamespace } from '../src/platform/temporal/namespace.js';
import { BUNDLE_PATH } from './bundle.js';
import { installRuntime } from './runtime.js';
import { createCardExpiryLoop } from './card-expiry.js';
import { createDispatcher } from './dispatcher.js';
import { createProviderEventRetention, createWebhookRetention } from './retention.js';
import { createWebhookRecovery } from './recovery.js';
import { createProviderHealthLoop } from './provider-health.js';
import { createWatchdog } from './watchdog.js';
import { createWorkerCount } from './worker-count.js';
import { createWorkers } from './worker.js';

/** The worker process: workflows, activities and background loops. On SIGTERM it finishes its work in flight and exits. */
async function main(): Promise<void> {
  const config = loadConfig();
  const { connection: temporal, namespace, taskQueue, deployment } = config.temporal;
  const deps = await createDeps(config, 'worker');
  installRuntime(deps.log, config.metrics);
  const { registry } = deps;
  measureQueues(registry, { group_commit: () => deps.groupCommit.waiting() });
  measureBacklogs(registry, { db: deps.database.db, log: deps.log, backlogs });
  measureMoney(registry, { db: deps.database.db, log: deps.log });
  measureClosings(registry, { read: deps.ledger.lastRun, log: deps.log });
  const metrics = await serveMetrics(registry, { ...config.metrics, log: deps.log });
  const setUp = await Connection.connect(temporal);
  await ensureNamespace(setUp, namespace, config.environment);
  await setUp.close();
  await keepSchedules(deps);

  const providers = deps.providers.rateLimits;
  const workerCount = createWorkerCount({
    client: deps.temporal.client,
    namespace,
    taskQueue,
    log: deps.log,
  });
  const connection = await NativeConnection.connect(temporal);
  const workers = await createWorkers({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { codePath: BUNDLE_PATH },
    providers,
    deployment,
    tracer: deps.tracer,
    activities: {
      ...deps,
      localSubmissions: createLocalSubmissionLimiter({ providers, workers: workerCount.count }),
    },
  });
  const records = supervisedRecords(deps);
  const loops = [
    createDispatcher(records, deps.log),
    createWatchdog(records, { ...config.instructions, log: deps.log }),
    createWebhookRecovery(deps),
    createWebhookRetention(deps),
    createCardExpiryLoop(deps),
    createProviderEventRetention(deps),
    createProviderHealthLoop(deps),
    workerCount.loop,
  ];
  const stop = () => {
    for (const loop of loops) loop.stop();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  deps.log.info({ taskQueue, namespace }, 'worker is running');
  const running = [...loops.map((loop) => loop.run()), ...workers.map((worker) => worker.run())];
  // If one ends, by a signal or a failure, all are stopped and awaited.
  await Promise.race(running).catch(() => undefined);
  stop();
  const ended = await Promise.allSettled(running);
  await connection.close();
  await metrics.close();
  await deps.close();
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
  deps.log.info('worker has stopped');
}

/** Payments do not depend on the Schedules, so a failure does not stop the worker. */
async function keepSchedules({ transfers, deposits, ledger, log }: Deps): Promise<void> {
  const keep = async (name: string, update: () => Promise<void>) =>
    update().catch((error: unknown) => {
      log.error({ err: error }, `${name} schedule not updated, the next start tries again`);
    });
  await keep('reconciliation', () => transfers.reconciliationSchedules.keep());
  await keep('deposit search', () => deposits.schedules.keep());
  await keep('ledger closing', () => ledger.keepSchedule());
}

logFatalErrors('worker');
await main();
