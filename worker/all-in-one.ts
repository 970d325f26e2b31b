import { NativeConnection } from '@temporalio/worker';
import { serveApi } from '../src/api.js';
import { createDeps } from '../src/composition/deps.js';
import { loadConfig } from '../src/shared/config.js';
import { createLog } from '../src/shared/log.js';
import { logFatalErrors } from '../src/shared/fatal-errors.js';
import { runWorker } from './run.js';
import { installRuntime } from './runtime.js';

/**
 * API and worker in one process, for a small site (decision 22). They share one connection to Temporal, so workflows that the API
 * starts begin here without a poll, and one commit engine. On SIGTERM the API stops first, then the worker.
 */
async function main(): Promise<void> {
  const config = loadConfig();
  installRuntime(createLog({ level: config.logLevel, name: 'bursar' }), config.metrics);
  const connection = await NativeConnection.connect(config.temporal.connection);
  const deps = await createDeps(config, 'bursar', connection);
  const worker = await runWorker(deps, connection);
  const api = await serveApi(deps);
  let closing: Promise<void> | null = null;
  const stop = () => (closing ??= api.close().finally(() => worker.stop()));
  const onSignal = () =>
    void stop().catch((error: unknown) => deps.log.error({ err: error }, 'stopping failed'));
  process.once('SIGTERM', onSignal);
  process.once('SIGINT', onSignal);
  try {
    await worker.ended;
  } finally {
    await stop();
    await deps.close();
    await connection.close();
  }
  deps.log.info('bursar has stopped');
}

logFatalErrors('bursar');
await main();
