import { readFile } from 'node:fs/promises';
import { createApp } from './composition/app.js';
import { createWriteProbe } from './platform/database/write-probe.js';
import { forwardedMutations } from './composition/capabilities.js';
import type { Deps } from './composition/deps.js';
import { serveForwarding } from './core/commit/forwarding-server.js';
import { createHealth } from './platform/http/health.js';
import { createLoad } from './platform/http/load.js';
import { createServer } from './platform/http/server.js';
import { measureQueues } from './platform/metrics/queues.js';
import { measureRequests } from './platform/metrics/requests.js';
import { serveMetrics } from './platform/metrics/server.js';
import { allRoutes } from './composition/routes.js';
import { serveOperators } from './ops/operator-api/server.js';
import { compiled } from './shared/package-root.js';

/** A listening API. */
export type Api = {
  /** Reports "not ready", answers the requests in progress, and stops listening. The parts stay open. */
  close(): Promise<void>;
};

/** Serves the public API, the operator API, metrics, and the mutations that other processes forward to this one. */
export async function serveApi(deps: Deps): Promise<Api> {
  const { config, log, registry, database, apiKeys, rateLimits, completionWaiters } = deps;
  // Temporal is not checked: while it is away, requests are accepted and their workflows start later.
  const checks = {
    mongodb: () => database.db.command({ ping: 1 }),
    unique_indexes: () => deps.uniqueIndexes.assertPresent(),
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
    measure: measureRequests(registry, load, deps.tracer),
    tracer: deps.tracer,
    providers: deps.providers,
    routes: allRoutes(deps),
    // Making it from the schemas takes a third of a second, so the build does.
    openApi: await readFile(compiled('docs', 'openapi.json'), 'utf8'),
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
    forwarding: deps.forwarding,
    mutations: forwardedMutations,
    processes: deps.commitProcesses,
    log,
    onServed: deps.countServed,
  });
  const operatorApi = await serveOperators(deps, config.operators);
  const address = await server.listen(config.http);
  log.info(address, 'api is listening');

  return {
    async close() {
      // Requests that wait for a record to end get its current state.
      completionWaiters.stop();
      await server.drain();
      await operatorApi?.close();
      await forwarded.close();
      await rateLimits.idle();
      await metrics.close();
    },
  };
}
