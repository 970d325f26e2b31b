import helmet from 'koa-helmet';
import type { Middleware } from './context.js';

/** Sets headers that forbid browsers to frame, sniff, cache or execute any answer: the API serves programs. */
export function securityHeaders(): Middleware {
  const protect = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"] } },
    strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: true },
    xFrameOptions: { action: 'deny' },
    // These concern pages, which the API does not serve: they would only make every answer longer.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
  return (ctx, next) => {
    // Answers contain balances and recipients, so no cache may store them.
    ctx.res.setHeader('Cache-Control', 'no-store');
    return protect(ctx, next);
  };
}
