import { Router } from '@koa/router';
import Koa from 'koa';
import type { ApiKeys } from './api-keys/store.js';
import { authenticate, authorize } from './http/authenticate.js';
import { clientAddress } from './http/client-address.js';
import type { AppRouter, AppState, Middleware } from './http/context.js';
import { errorHandler } from './http/error-handler.js';
import type { Health } from './http/health.js';
import type { Load } from './http/load.js';
import { answerOptions, notFound } from './http/not-found.js';
import {
  CALLBACK_ALLOWANCE,
  limitBySource,
  limitByTenant,
  limitUncounted,
} from './http/rate-limit.js';
import { requestId } from './http/request-id.js';
import { requestLog } from './http/request-log.js';
import { API_PREFIX } from './http/idempotency.js';
import { securityHeaders } from './http/security-headers.js';
import type { Log } from './log.js';
import type { Allowance } from './rate-limits/rate-limit.js';
import type { RateLimits } from './rate-limits/store.js';

/** Routes without a key, provider callbacks for one: whoever calls is told by the route itself, by a signature. */
export type PublicRoutes = { name: string; router: AppRouter; allowance?: Allowance };

export type AppDeps = {
  log: Log;
  apiKeys: Pick<ApiKeys, 'authenticate'>;
  rateLimits: Pick<RateLimits, 'take'>;
  health: Pick<Health, 'middleware'>;
  load: Pick<Load, 'middleware'>;
  /** Counts and times what is answered; see metrics/requests.ts. */
  measure: Middleware;
  /** Routers of the capabilities; their paths are relative to /api/v1. */
  routers: readonly AppRouter[];
  publicRouters?: readonly PublicRoutes[];
  trustedProxies: number;
};

/** The whole way of a request, outermost first. */
export function createApp(deps: AppDeps): Koa<AppState> {
  const { log, apiKeys, rateLimits } = deps;
  const api = new Router<AppState>({ prefix: API_PREFIX });
  for (const router of deps.routers) api.use(router.routes());
  const callbacks = (deps.publicRouters ?? []).map((routes) => mountPublic(routes, rateLimits));
  const routers = [api, ...callbacks];

  const app = new Koa<AppState>();
  app.use(requestId());
  app.use(clientAddress({ trustedProxies: deps.trustedProxies }));
  app.use(requestLog({ log }));
  app.use(deps.measure);
  app.use(securityHeaders());
  app.use(errorHandler({ log }));
  app.use(deps.health.middleware);
  app.use(deps.load.middleware);
  app.use(limitUncounted({ rateLimits }));
  app.use(answerOptions({ routers }));
  for (const router of callbacks) app.use(router.routes());
  app.use(underApi(authenticate({ apiKeys })));
  app.use(underApi(limitByTenant({ rateLimits })));
  app.use(underApi(authorize({ api })));
  // The router itself adds what its type asks of the context.
  app.use(underApi(api.routes() as Middleware));
  app.use(notFound({ routers }));
  // Only what happens after the error handler comes here: as a rule, a client that did not wait.
  app.on('error', (error: unknown) => log.warn({ err: error }, 'an answer could not be sent'));
  return app;
}

/** The router is behind the same test as authentication: no spelling of a path reaches a route without it. */
function underApi(middleware: Middleware): Middleware {
  return (ctx, next) => (/^\/api\/v1(?:\/|$)/i.test(ctx.path) ? middleware(ctx, next) : next());
}

/** Their limit is counted only when one of their routes matches, and before anything of the body is read. */
function mountPublic(
  { name, router, allowance = CALLBACK_ALLOWANCE }: PublicRoutes,
  rateLimits: Pick<RateLimits, 'take'>,
): AppRouter {
  return new Router<AppState>({ prefix: API_PREFIX })
    .use(limitBySource({ rateLimits, name, allowance }))
    .use(router.routes());
}
