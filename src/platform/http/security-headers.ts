import type { Middleware } from './context.js';

/**
 * An API answers programs: nothing of an answer may be framed, sniffed, cached or executed. Headers that speak to
 * browsers about pages are left out, because each would only make every answer longer.
 */
const HEADERS = {
  // Answers carry balances and recipients: no cache may keep one.
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export function securityHeaders(): Middleware {
  return (ctx, next) => {
    for (const [name, value] of Object.entries(HEADERS)) ctx.res.setHeader(name, value);
    return next();
  };
}
