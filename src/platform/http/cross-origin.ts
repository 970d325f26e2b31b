import cors from '@koa/cors';
import type { Middleware } from './context.js';
import type { OperationAt } from './routes.js';

const MAX_AGE_SECONDS = 600;

/**
 * Allows browsers of other origins the operations that public keys may use, and no others: secret keys do not belong in
 * a page. Cookies are never read, so every origin may call.
 */
export function crossOrigin({ operationAt }: { operationAt: OperationAt }): Middleware {
  const allow = cors({
    origin: '*',
    allowMethods: 'POST',
    allowHeaders: 'Authorization, Content-Type, Idempotency-Key, Prefer, X-Request-Id',
    exposeHeaders: [
      'Idempotent-Replayed',
      'Location',
      'Preference-Applied',
      'Retry-After',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'X-Request-Id',
    ],
    maxAge: MAX_AGE_SECONDS,
  });
  return (ctx, next) => {
    const preflight = ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method');
    const operation = operationAt(preflight ? { method: preflight, path: ctx.path } : ctx);
    return operation?.access === 'public_key' ? allow(ctx, next) : next();
  };
}
