import { isAnyId } from '../../shared/ids.js';
import { traceTime, type Tracer } from '../tracing/tracer.js';
import type { AppContext, Middleware } from './context.js';
import { routeOf } from './request-log.js';

/**
 * Records a span for every request but health checks. The request that has created a record is the first step of the record's
 * trace. A caller's `traceparent` is a link, because callers do not choose our traces.
 */
export function requestSpan({ tracer }: { tracer: Tracer }): Middleware {
  return async (ctx, next) => {
    if (!tracer.isOn || ctx.path.startsWith('/health/')) return next();
    const startedAt = traceTime();
    try {
      await next();
    } finally {
      const { method, status } = ctx;
      const route = routeOf(ctx) ?? 'none';
      const created = createdResource(ctx);
      const caller = ctx.req.headers['traceparent'];
      tracer.record({
        name: `${method} ${route}`,
        kind: 'server',
        resource: created,
        ...(created !== null && { step: 'request' }),
        parent: null,
        startedAt,
        attributes: {
          'http.request.method': method,
          'http.route': route,
          'http.response.status_code': status,
          'bursar.request_id': ctx.state.requestId,
          'bursar.tenant': ctx.state.foundKey?.tenantId,
        },
        error: status >= 500 ? String(ctx.state.errorCode ?? status) : undefined,
        caller: typeof caller === 'string' ? caller : undefined,
      });
    }
  };
}

/** The id of the record that a request has created; null if it has created none. */
export function createdResource(ctx: AppContext): string | null {
  const { resource } = ctx.state;
  const isReplayed = ctx.res.hasHeader('idempotent-replayed');
  return ctx.status === 201 && !isReplayed && isAnyId(resource) ? resource : null;
}
