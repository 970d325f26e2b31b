import { readVersion } from '../../shared/version.js';
import type { Middleware } from './context.js';
import { sendData } from './respond.js';

/**
 * Serves the OpenAPI document, as JSON, at /openapi.json, and links at /, both without a key. Where the documentation page is
 * served (`hasDocs`), a browser is redirected from / to it.
 */
export function documents({
  openApi,
  prefix,
  hasDocs,
}: {
  openApi: string;
  /** The path below which the operations are. */
  prefix: string;
  hasDocs: boolean;
}): Middleware {
  const links = {
    service: 'Bursar',
    version: readVersion(),
    api: prefix,
    openapi: '/openapi.json',
    docs: hasDocs ? '/docs' : null,
    health: '/health/ready',
  };
  return (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (ctx.path === '/openapi.json') {
      ctx.type = 'application/json; charset=utf-8';
      ctx.body = openApi;
      return undefined;
    }
    if (ctx.path !== '/') return next();
    ctx.vary('Accept');
    if (hasDocs && ctx.accepts('json', 'html') === 'html') ctx.redirect('/docs');
    else sendData(ctx, 200, links);
    return undefined;
  };
}
