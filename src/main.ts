import { createApp } from './composition/app.js';
import { loadConfig } from './shared/config.js';
import { createWriteProbe } from './platform/database/write-probe.js';
import { forwardedMutations } from './composition/capabilities.js';
import { createDeps } from './composition/deps.js';
import { serveForwarding } from './core/commit/forwarding-server.js';
import { logFatalErrors } from './shared/fatal-errors.js';
import { createHealth } from './platform/http/health.js';
import { createLoad } from './platform/http/load.js';
import { createServer } from './platform/http/server.js';
import { measureQueues } from './platform/metrics/queues.js';
import { measureRequests } from './platform/metrics/requests.js';
import { serveMetrics } from './platform/metrics/server.js';
import { openApi } from './composition/operations.js';
import { allRoutes } from './composition/routes.js';
import { serveOperators } from './ops/operator-api/server.js';

/** The API process. On SIGTERM it reports "not ready", answers the requests in progress, and closes its connections. */
async function main(): Promise<void> {
  const config = loadConfig();
  const deps = await createDeps(config, 'api');
  const { log, registry, database, apiKeys, rateLimits, completionWaiters } = deps;
  // Temporal is not checked: while it is away, requests are accepted and their workflows start later.
  const checks = {
    mongodb: () => database.db.command({ ping: 1 }),
    unique_indexes: async () => deps.uniqueIndexes.assertPresent(),
  };
  const health = createHealth({ checks, log });
  const load = createLoad({ ...config.load, log });
  measureQueues(registry, {
    group_commit: () => deps.groupCommit.waiting(),
    rate_limit: () => rateLimits.waiting(),
    prefer_wait: () => completionWaiters.waiting,
  });
  const app = createApp({
    log,
    apiKeys,
    rateLimits,
    health,
    load,
    writeProbe: createWriteProbe(database),
    measure: measureRequests(registry, load),
    tracer: deps.tracer,
    providers: deps.providers,
    routes: allRoutes(deps),
    openApi,
    environment: config.environment,
    trustedProxies: config.http.trustedProxies,
    unauthenticatedPerMinute: config.http.unauthenticatedPerMinute,
  });
  const server = createServer({
    app,
    health,
    log,
    noticeMs: config.http.drainNoticeMs,
    maxConnections: config.http.maxConnections,
    onDrop: load.connectionRefused,
  });
  const metrics = await serveMetrics(registry, { ...config.metrics, log });
  const forwarded = await serveForwarding({
    ...config.internal,
    groupCommit: deps.groupCommit,
    mutations: forwardedMutations,
    processes: deps.commitProcesses,
    log,
  });
  const operatorApi = await serveOperators(deps, config.operators);
  const address = await server.listen(config.http);
  log.info(address, 'api is listening');

  stopOnSignal(
    async () => {
      // Requests that wait for a record to end get its current state.
      completionWaiters.stop();
      await server.drain();
      await operatorApi?.close();
      await forwarded.close();
      await rateLimits.idle();
      await metrics.close();
      await deps.close();
    },
    (error) => log.error({ err: error }, 'stopping failed'),
  );
}

/** Stops the process once, on the first signal. */
function stopOnSignal(stop: () => Promise<void>, onError: (error: unknown) => void): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    stop().catch((error: unknown) => {
      onError(error);
      process.exitCode = 1;
    });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

logFatalErrors('api');
await main();
