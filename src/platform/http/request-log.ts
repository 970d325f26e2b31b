import type { Log } from '../../shared/log.js';
import type { AppContext, Middleware } from './context.js';

/** Logs one line for every answer: caller, route, status, duration. Paths, queries and bodies are never logged. */
export function requestLog({ log }: { log: Log }): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      // Health checks come every few seconds, and a failing one is logged separately.
      log[ctx.path.startsWith('/health/') ? 'debug' : 'info'](
        {
          request_id: ctx.state.requestId,
          method: ctx.method,
          route: routeOf(ctx),
          status: ctx.status,
          ms: Math.round((performance.now() - startedAt) * 10) / 10,
          tenant: ctx.state.key?.tenant.id,
          key_id: ctx.state.key?.id ?? ctx.state.operator?.keyId,
          operator: ctx.state.operator?.id,
        },
        'request',
      );
    }
  };
}

/** The route pattern that matched. The path itself is not logged, because it may contain text from a caller. */
export function routeOf(ctx: AppContext): string | undefined {
  const { _matchedRoute: route } = ctx as { _matchedRoute?: unknown };
  return typeof route === 'string' ? route : undefined;
}
