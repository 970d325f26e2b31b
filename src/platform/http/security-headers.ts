import type { Middleware } from './context.js';

/**
 * Headers that forbid browsers to frame, sniff, cache or execute any answer: the API serves programs. Headers that
 * concern pages are left out, because they would only make every answer longer.
 */
const HEADERS = {
  // Answers contain balances and recipients, so no cache may store them.
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Sets the security headers on every answer. */
export function securityHeaders(): Middleware {
  return (ctx, next) => {
    for (const [name, value] of Object.entries(HEADERS)) ctx.res.setHeader(name, value);
    return next();
  };
}
