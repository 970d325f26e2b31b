import { createCallRates } from '../../src/core/providers/call-rates.js';
import { NativeConnection, type WorkflowBundleOption } from '@temporalio/worker';
import { reconciledRecords, statementMatcher } from '../../src/composition/reconciliation.js';
import { supervisedRecords } from '../../src/composition/supervision.js';
import { loadConfig } from '../../src/shared/config.js';
import { noLocalSubmissions } from '../../src/core/instructions/local-submission-limiter.js';
import { createDispatcher } from '../../worker/dispatcher.js';
import { createWatchdog } from '../../worker/watchdog.js';
import { createWorkers } from '../../worker/worker.js';
import { sharedEngines } from './engines.js';
import { installQuietRuntime } from './quiet-runtime.js';
import type { Service } from './service.js';

/**
 * Runs a worker of a service in this process, with its dispatcher and its watchdog, so that a test can choose its code and
 * its slots. Returns a function that stops it.
 */
export async function startOwnWorker(
  { deps, env }: Pick<Service, 'deps' | 'env'>,
  {
    workflowBundle = { codePath: sharedEngines().bundle },
    maxWorkflowTasks = 32,
    deployment = null,
  }: {
    workflowBundle?: WorkflowBundleOption;
    maxWorkflowTasks?: number;
    deployment?: { name: string; buildId: string } | null;
  } = {},
): Promise<() => Promise<void>> {
  installQuietRuntime();
  const connection = await NativeConnection.connect(loadConfig(env).temporal.connection);
  const workers = await createWorkers({
    connection,
    namespace: deps.config.temporal.namespace,
    taskQueue: String(env['BURSAR_TASK_QUEUE']),
    workflowBundle,
    providers: deps.providers.rateLimits,
    activities: {
      ...deps,
      callRates: createCallRates({ limits: deps.providers.rateLimits, workers: () => 1 }),
      reconciled: reconciledRecords(deps),
      matchStatement: statementMatcher(deps),
      localSubmissions: noLocalSubmissions,
    },
    maxWorkflowTasks,
    deployment,
  });
  const records = supervisedRecords(deps);
  const loops = [
    createDispatcher(records, deps.log),
    createWatchdog(records, {
      ...deps.config.instructions,
      db: deps.database.db,
      log: deps.log,
    }),
  ];
  const running = Promise.all([
    ...loops.map((loop) => loop.run()),
    ...workers.map((worker) => worker.run()),
  ]);
  return async () => {
    for (const each of loops) each.stop();
    for (const worker of workers) worker.shutdown();
    await running;
    await connection.close();
  };
}
