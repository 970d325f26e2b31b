import type { Log } from '../../shared/log.js';
import { isAnyId } from '../../shared/ids.js';
import type { AppContext, Middleware } from './context.js';

/**
 * Logs one line for every answer: caller, route, resource, status, duration; for a refusal also its code and the client's
 * address, so that attacks can be traced. Paths, queries and bodies are never logged; of a path only an id of ours is taken.
 */
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
          tenant: ctx.state.foundKey?.tenantId,
          resource: resourceOf(ctx),
          key_id: ctx.state.foundKey?.id ?? ctx.state.operator?.keyId ?? undefined,
          operator: ctx.state.operator?.id,
          ...(ctx.state.errorCode !== undefined && {
            code: ctx.state.errorCode,
            address: ctx.state.address,
          }),
        },
        'request',
      );
    }
  };
}

/** The id of the record that a request is about: that in its path, or else that of the record in the answer. */
function resourceOf(ctx: AppContext): string | undefined {
  const { params } = ctx as { params?: Record<string, string> };
  const named = Object.values(params ?? {}).find(isAnyId);
  if (named !== undefined) return named;
  const { resource } = ctx.state;
  return isAnyId(resource) ? resource : undefined;
}

/** The route pattern that matched. The path itself is not logged, because it may contain text from a caller. */
export function routeOf(ctx: AppContext): string | undefined {
  const { _matchedRoute: route } = ctx as { _matchedRoute?: unknown };
  return typeof route === 'string' ? route : undefined;
}
