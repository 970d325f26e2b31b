import cors from '@koa/cors';
import type { Middleware } from './context.js';
import type { OperationAt } from './routes.js';

const MAX_AGE_SECONDS = 600;

/**
 * Browsers of other origins may use what public keys may use, and nothing else: a secret key has no business in a page.
 * No cookie is ever read here, so any origin may ask.
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
    const asked = operationAt(preflight ? { method: preflight, path: ctx.path } : ctx);
    return asked?.access === 'public_key' ? allow(ctx, next) : next();
  };
}
