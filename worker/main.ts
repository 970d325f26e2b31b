import { NativeConnection } from '@temporalio/worker';
import { createDeps } from '../src/composition/deps.js';
import { measureQueues } from '../src/platform/metrics/queues.js';
import { serveMetrics } from '../src/platform/metrics/server.js';
import { loadConfig } from '../src/shared/config.js';
import { logFatalErrors } from '../src/shared/fatal-errors.js';
import { runWorker } from './run.js';
import { installRuntime } from './runtime.js';

/** The worker process: workflows, activities and background loops. On SIGTERM it finishes its work in flight and exits. */
async function main(): Promise<void> {
  const config = loadConfig();
  const deps = await createDeps(config, 'worker');
  const { log, registry } = deps;
  installRuntime(log, config.metrics);
  measureQueues(registry, { group_commit: () => deps.groupCommit.waiting() });
  const metrics = await serveMetrics(registry, { ...config.metrics, log });
  const connection = await NativeConnection.connect(config.temporal.connection);
  const worker = await runWorker(deps, connection);
  process.once('SIGTERM', () => worker.stop());
  process.once('SIGINT', () => worker.stop());
  try {
    await worker.ended;
  } finally {
    await connection.close();
    await metrics.close();
    await deps.close();
  }
  log.info('worker has stopped');
}

logFatalErrors('worker');
await main();
