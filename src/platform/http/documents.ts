import type { Middleware } from './context.js';

/** Serves the OpenAPI document, as JSON, at /openapi.json, without a key. */
export function documents({ openApi }: { openApi: string }): Middleware {
  return (ctx, next) => {
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!reads || ctx.path !== '/openapi.json') return next();
    ctx.type = 'application/json; charset=utf-8';
    ctx.body = openApi;
    return undefined;
  };
}
