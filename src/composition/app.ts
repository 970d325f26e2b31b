import Koa from 'koa';
import type { Environment } from '../platform/api-keys/api-key.js';
import type { ApiKeys } from '../platform/api-keys/store.js';
import type { WriteProbe } from '../platform/database/write-probe.js';
import {
  authenticate,
  authorize,
  findBearerToken,
  requireFeatures,
} from '../platform/http/authenticate.js';
import { clientAddress } from '../platform/http/client-address.js';
import type { AppContext, AppState, Middleware } from '../platform/http/context.js';
import { crossOrigin } from '../platform/http/cross-origin.js';
import { docsPage } from '../platform/http/docs-page.js';
import { documents } from '../platform/http/documents.js';
import { API_PREFIX } from '../platform/http/operation.js';
import { errorHandler } from '../platform/http/error-handler.js';
import type { Health } from '../platform/http/health.js';
import type { Load } from '../platform/http/load.js';
import { answerOptions, notFound } from '../platform/http/not-found.js';
import {
  CALLBACK_ALLOWANCE,
  DOCS_ALLOWANCE,
  limitBySource,
  limitByTenant,
  limitUncounted,
  UNAUTHENTICATED_PER_MINUTE,
} from '../platform/http/rate-limit.js';
import { requestId } from '../platform/http/request-id.js';
import { requestLog } from '../platform/http/request-log.js';
import { requestSpan } from '../platform/http/request-span.js';
import { noTracer, type Tracer } from '../platform/tracing/tracer.js';
import { routerOf, type MethodsAt, type Route } from '../platform/http/routes.js';
import { securityHeaders } from '../platform/http/security-headers.js';
import { timeLimit, type TimeLimits } from '../platform/http/time-limit.js';
import type { Providers } from '../core/providers/registry.js';
import type { Log } from '../shared/log.js';
import type { Allowance } from '../platform/rate-limits/rate-limit.js';
import type { RateLimits } from '../platform/rate-limits/store.js';

/** The parts that the HTTP application is made of. */
type AppDeps = {
  log: Log;
  apiKeys: Pick<ApiKeys, 'authenticate' | 'isKnown'>;
  rateLimits: Pick<RateLimits, 'take' | 'usedUp'>;
  health: Pick<Health, 'middleware'>;
  load: Pick<Load, 'middleware'>;
  /** Tells whether the database accepts writes. */
  writeProbe: WriteProbe;
  /** Records a span for each request; none if left out. */
  tracer?: Tracer;
  /** Counts and times answers; see metrics/requests.ts. */
  measure: Middleware;
  /** Tells whether a provider serves the capability. */
  providers: Pick<Providers, 'serves'>;
  /** The routes of all capabilities. */
  routes: readonly Route[];
  /** The document served at /openapi.json. */
  /** As JSON. */
  openApi: string;
  environment: Environment;
  trustedProxies: number;
  /** Time limits of a request while the database is unavailable. */
  timeLimits?: TimeLimits;
  /** Requests per minute from one address without a valid key. */
  unauthenticatedPerMinute?: number;
  /** The rate limit of one address on provider routes. */
  callbackAllowance?: Allowance;
  /** The rate limit of one address for the files of the documentation page. */
  docsAllowance?: Allowance;
};

/** Creates the HTTP application: every middleware that a request passes, outermost first. */
export function createApp(deps: AppDeps): Koa<AppState> {
  const { log, apiKeys, rateLimits, callbackAllowance: allowance = CALLBACK_ALLOWANCE } = deps;
  const isCallback = ({ operation }: Route) => operation.access === 'provider';
  const api = routerOf(deps.routes.filter((route) => !isCallback(route)));
  // Providers authenticate with a signature instead of a key.
  const callbacks = routerOf(deps.routes.filter(isCallback), [
    limitBySource({ rateLimits, name: 'callbacks', allowance }),
  ]);
  const hasOwnLimit = async (ctx: AppContext) =>
    callbacks.operationAt(ctx) !== undefined || bringsKnownKey(ctx, apiKeys);
  const methodsAt: MethodsAt = (path) => [...api.methodsAt(path), ...callbacks.methodsAt(path)];

  const app = new Koa<AppState>();
  app.use(requestId());
  app.use(clientAddress({ trustedProxies: deps.trustedProxies }));
  app.use(requestLog({ log }));
  app.use(requestSpan({ tracer: deps.tracer ?? noTracer }));
  app.use(deps.measure);
  app.use(securityHeaders());
  app.use(errorHandler({ log }));
  app.use(deps.health.middleware);
  app.use(timeLimit({ log, writeProbe: deps.writeProbe, ...deps.timeLimits }));
  app.use(deps.load.middleware);
  const { unauthenticatedPerMinute: perMinute = UNAUTHENTICATED_PER_MINUTE } = deps;
  const { docsAllowance = DOCS_ALLOWANCE } = deps;
  const limit = limitBySource({ rateLimits, name: 'docs', allowance: docsAllowance });
  // In live, readers would paste keys that move money beside the viewer's script.
  const hasDocs = deps.environment !== 'live';
  if (hasDocs) app.use(docsPage({ environment: deps.environment, limit }));
  app.use(limitUncounted({ rateLimits, perMinute, hasOwnLimit }));
  app.use(documents({ openApi: deps.openApi, prefix: API_PREFIX, hasDocs }));
  app.use(crossOrigin({ operationAt: api.operationAt }));
  app.use(answerOptions({ methodsAt }));
  app.use(callbacks.middleware);
  app.use(underApi(authenticate({ apiKeys })));
  app.use(underApi(authorize({ operationAt: api.operationAt })));
  app.use(underApi(limitByTenant({ rateLimits, operationAt: api.operationAt })));
  const { serves } = deps.providers;
  app.use(underApi(requireFeatures({ operationAt: api.operationAt, serves })));
  app.use(underApi(api.middleware));
  app.use(notFound({ methodsAt }));
  // Reached only by errors after the error handler, usually because the client has disconnected.
  app.on('error', (error: unknown) => log.warn({ err: error }, 'could not send the answer'));
  return app;
}

async function bringsKnownKey(ctx: AppContext, apiKeys: Pick<ApiKeys, 'isKnown'>) {
  const token = findBearerToken(ctx.req.headers.authorization);
  return token !== null && apiKeys.isKnown(token);
}

/** The router has the same test as authentication, so no spelling of a path reaches a route without authentication. */
function underApi(middleware: Middleware): Middleware {
  return (ctx, next) => (/^\/api\/v1(?:\/|$)/i.test(ctx.path) ? middleware(ctx, next) : next());
}
