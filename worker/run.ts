import { Connection } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { backlogs, claimedForMs } from '../src/composition/backlogs.js';
import type { Deps } from '../src/composition/deps.js';
import { measureBreaks } from '../src/composition/break-metrics.js';
import { measureFloats } from '../src/composition/float-metrics.js';
import { measureMoney } from '../src/composition/money-metrics.js';
import {
  createComparisonSchedules,
  createStatementReadings,
  expectedRuns,
  reconciledRecords,
  statementMatcher,
} from '../src/composition/reconciliation.js';
import { measureReconciliations } from '../src/composition/reconciliation-metrics.js';
import { supervisedRecords } from '../src/composition/supervision.js';
import { measureBacklogs } from '../src/platform/metrics/backlog.js';
import { measureClaims } from '../src/platform/metrics/claims.js';
import { measureClosings } from '../src/platform/metrics/closings.js';
import { createCallRates } from '../src/core/providers/call-rates.js';
import { RECORD_RATE_SHARE } from '../src/core/reconciliation/schedule.js';
import type { RateLimit } from '../src/platform/temporal/queues.js';
import { createLocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import { checkNamespace, ensureNamespace } from '../src/platform/temporal/namespace.js';
import { BUNDLE_PATH } from './bundle.js';
import { createCardExpiryLoop } from './card-expiry.js';
import { createDispatcher } from './dispatcher.js';
import { createProviderEventRetention, createWebhookRetention } from './retention.js';
import { createWebhookRecovery } from './recovery.js';
import { createProviderHealthLoop } from './provider-health.js';
import { createWatchdog } from './watchdog.js';
import { createWorkerCount } from './worker-count.js';
import { createWorkers } from './worker.js';

/** The workers and background loops of one process. */
export type RunningWorker = {
  /** Lets work in flight finish. */
  stop(): void;
  /** Resolves when everything has stopped. Rejects if a worker or a loop has failed, after the others have stopped. */
  ended: Promise<void>;
};

/** Runs workflows, activities and background loops on this connection, which stays open. */
export async function runWorker(deps: Deps, connection: NativeConnection): Promise<RunningWorker> {
  const { config, registry } = deps;
  const { connection: temporal, namespace, taskQueue, deployment } = config.temporal;
  const claimed = { claimedForMs: claimedForMs(config) };
  measureBacklogs(registry, { db: deps.database.db, log: deps.log, backlogs, ...claimed });
  measureMoney(registry, { db: deps.database.db, log: deps.log });
  measureBreaks(registry, { db: deps.database.db, log: deps.log });
  measureFloats(registry, { ...deps, health: deps.providerHealth });
  measureClosings(registry, { read: deps.ledger.lastRun, log: deps.log });
  const expected = expectedRuns(config, deps.providers);
  measureReconciliations(registry, { runs: deps.reconciliationRuns, expected, log: deps.log });
  const setUp = await Connection.connect(temporal);
  const prepare = config.temporal.registers ? ensureNamespace : checkNamespace;
  await prepare(setUp, namespace, config.environment);
  await setUp.close();
  await keepSchedules(deps);

  const providers = deps.providers.rateLimits;
  const workerCount = createWorkerCount({
    client: deps.temporal.client,
    namespace,
    taskQueue,
    log: deps.log,
  });
  const callRates = createCallRates({
    limits: providers.map(besideReconciliation),
    workers: workerCount.count,
    log: deps.log,
  });
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
      callRates,
      reconciled: reconciledRecords(deps),
      matchStatement: statementMatcher(deps),
      localSubmissions: createLocalSubmissionLimiter({ rates: callRates }),
    },
  });
  const records = supervisedRecords(deps);
  const observeClaims = measureClaims(registry, [
    ...Object.keys(records),
    'webhook_deliveries',
    'webhook_endpoints',
  ]);
  const loops = [
    createDispatcher(records, deps.log, observeClaims),
    createWatchdog(records, { ...config.instructions, db: deps.database.db, log: deps.log }),
    createWebhookRecovery(deps, observeClaims),
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
  deps.log.info({ taskQueue, namespace }, 'worker is running');
  const running = [...loops.map((loop) => loop.run()), ...workers.map((worker) => worker.run())];
  return { stop, ended: endOf(running, stop) };
}

/** A provider's rate without the part that the comparison of its records keeps by itself. That of transfers takes turns. */
const besideReconciliation = (limit: RateLimit): RateLimit =>
  limit.bulkTransfersOf === null
    ? { ...limit, callsPerSecond: limit.callsPerSecond * (1 - RECORD_RATE_SHARE) }
    : limit;

/** If one ends, by `stop` or a failure, all are stopped and awaited. */
async function endOf(running: Promise<void>[], stop: () => void): Promise<void> {
  await Promise.race(running).catch(() => undefined);
  stop();
  const ended = await Promise.allSettled(running);
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
}

/** Payments do not depend on the Schedules, so a failure does not stop the worker. The last runs show it. */
async function keepSchedules(deps: Deps): Promise<void> {
  const { transfers, deposits, ledger, auditVerifications, log } = deps;
  const keep = async (name: string, update: () => Promise<void>) =>
    update().catch((error: unknown) => {
      log.error({ err: error }, `${name} schedule not updated, the next start tries again`);
    });
  await keep('expected run', () =>
    deps.reconciliationRuns.expect(expectedRuns(deps.config, deps.providers)),
  );
  await keep('reconciliation', () => transfers.reconciliationSchedules.keep());
  await keep('comparison', () => createComparisonSchedules(deps).keep());
  await keep('statement', () => createStatementReadings(deps).keep());
  await keep('deposit search', () => deposits.schedules.keep());
  await keep('ledger closing', () => ledger.keepSchedule());
  await keep('audit verification', () => auditVerifications.keepSchedule());
}
