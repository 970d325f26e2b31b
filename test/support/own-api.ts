import { Registry } from 'prom-client';
import { createApp } from '../../src/composition/app.js';
import type { Deps } from '../../src/composition/deps.js';
import { openApi } from '../../src/composition/operations.js';
import { allRoutes } from '../../src/composition/routes.js';
import { createWriteProbe } from '../../src/platform/database/write-probe.js';
import { createHealth } from '../../src/platform/http/health.js';
import { createLoad } from '../../src/platform/http/load.js';
import { createServer } from '../../src/platform/http/server.js';
import { measureRequests } from '../../src/platform/metrics/requests.js';

/** Runs an API in this process, so that a test can watch its parts. Returns a function that stops it. */
export async function startOwnApi(deps: Deps, port: number): Promise<() => Promise<void>> {
  const { log, config, database, apiKeys, rateLimits } = deps;
  const health = createHealth({ checks: {}, log });
  const load = createLoad({ ...config.load, log });
  const app = createApp({
    log,
    apiKeys,
    rateLimits,
    health,
    load,
    writeProbe: createWriteProbe(database),
    measure: measureRequests(new Registry(), load),
    providers: deps.providers,
    routes: allRoutes(deps),
    openApi: JSON.stringify(openApi()),
    environment: config.environment,
    trustedProxies: config.http.trustedProxies,
    unauthenticatedPerMinute: config.http.unauthenticatedPerMinute,
  });
  const server = createServer({ app, health, log });
  await server.listen({ ...config.http, port });
  return async () => {
    deps.completionWaiters.stop();
    await server.drain();
  };
}
