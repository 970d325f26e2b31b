import type { Log } from '../../shared/log.js';
import type { AppContext, Middleware } from './context.js';

/** One line for every answer: who, which route, how it ended, how long it took. Never a path, a query or a body. */
export function requestLog({ log }: { log: Log }): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      // Probes come every few seconds, and a failing one has a line of its own.
      log[ctx.path.startsWith('/health/') ? 'debug' : 'info'](
        {
          request_id: ctx.state.requestId,
          method: ctx.method,
          route: routeOf(ctx),
          status: ctx.status,
          ms: Math.round((performance.now() - startedAt) * 10) / 10,
          tenant: ctx.state.key?.tenant.id,
          key_id: ctx.state.key?.id,
        },
        'request',
      );
    }
  };
}

/** The pattern that matched: a path may hold what a caller pasted into it. */
export function routeOf(ctx: AppContext): string | undefined {
  const { _matchedRoute: route } = ctx as { _matchedRoute?: unknown };
  return typeof route === 'string' ? route : undefined;
}
