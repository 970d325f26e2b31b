import helmet from 'koa-helmet';
import type { Middleware } from './context.js';

/** An API answers programs: nothing of it may be framed, sniffed, cached or executed. */
export function securityHeaders(): Middleware {
  const protect = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"] } },
    strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: true },
    xFrameOptions: { action: 'deny' },
    // These speak to browsers about pages, which there are none of here: each would only make every answer longer.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
  return (ctx, next) => {
    // Answers carry balances and recipients: no cache may keep one.
    ctx.res.setHeader('Cache-Control', 'no-store');
    return protect(ctx, next);
  };
}
