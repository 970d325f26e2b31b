import { createHash } from 'node:crypto';
import { ApiError } from '../../shared/errors.js';
import {
  assumedWindow,
  WINDOW_NAME,
  type Allowance,
  type RateLimit,
} from '../rate-limits/rate-limit.js';
import type { RateLimits } from '../rate-limits/store.js';
import { allowance, safeguardAllowance, type Safeguard } from '../tenants/tenant.js';
import { addressSubject } from './client-address.js';
import { callerOf, type AppContext, type Middleware } from './context.js';
import type { OperationAt } from './routes.js';

type Limiter = { rateLimits: Pick<RateLimits, 'take'> };

/**
 * Limit for provider callbacks, by route family and address: far above what a provider sends, and low enough to protect
 * the service.
 */
export const CALLBACK_ALLOWANCE: Allowance = { rate: 60_000, burst: 90_000 };

/**
 * Limit of one address for the files of the documentation page, which are large: a visit takes six. It is separate, so
 * that reading the page does not use up the reader's other allowance.
 */
export const DOCS_ALLOWANCE: Allowance = { rate: 300, burst: 450 };

/** The share of a tenant's allowance that one address has with a public key. */
const PUBLIC_SHARE = 4;

/**
 * Counts the request against its tenant, and refuses it when the window is used up. Requests with a public key, which anybody
 * can read in a browser, have windows of their own, for all addresses together and for each: they use up nothing of the
 * secret keys' window. Operations that only stop spending have one too.
 */
export function limitByTenant({
  rateLimits,
  operationAt,
}: Limiter & { operationAt: OperationAt }): Middleware {
  return async (ctx, next) => {
    const { tenant, kind } = callerOf(ctx);
    const whole = allowance(tenant);
    if (kind === 'public') {
      const subject = `public:${tenant.id}`;
      refuseUnlessAllowed(await count(ctx, rateLimits, subject, whole));
      const each = `${subject}:${addressSubject(ctx.state.address)}`;
      refuseUnlessAllowed(await count(ctx, rateLimits, each, shareOf(whole)));
    } else {
      const subject = operationAt(ctx)?.onlyProtects ? `protecting:${tenant.id}` : tenant.id;
      refuseUnlessAllowed(await count(ctx, rateLimits, subject, whole));
    }
    await next();
  };
}

const shareOf = ({ rate, burst }: Allowance): Allowance => ({
  rate: Math.max(1, Math.floor(rate / PUBLIC_SHARE)),
  burst: Math.max(1, Math.floor(burst / PUBLIC_SHARE)),
});

/**
 * Creates the check that handlers use for a limit tighter than the tenant's: by the tenant's own figure or the default,
 * for the whole tenant or for `each` of something within it, such as a card. The headers show the limit with less
 * remaining.
 */
export function createSafeguard({ rateLimits }: Limiter) {
  return async (ctx: AppContext, name: Safeguard, each = ''): Promise<void> => {
    const { tenant } = callerOf(ctx);
    // Hashed, because the caller chooses the value and length of `each`.
    const subject = createHash('sha256').update(`${tenant.id}/${each}`).digest('base64url');
    const result = await rateLimits.take(`${name}:${subject}`, safeguardAllowance(tenant, name));
    showTighterLimit(ctx, result);
    refuseUnlessAllowed(result);
  };
}

/** Shows the limit in the headers if it refuses, or has less remaining than the one that they show. */
export function showTighterLimit(ctx: AppContext, result: RateLimit): void {
  const shown = Number(ctx.res.getHeader('X-RateLimit-Remaining'));
  if (!result.allowed || result.remaining < shown) setHeaders(ctx, result);
}

/** Counts the request against its address, separately for each `name`: for routes without keys. */
export function limitBySource({
  rateLimits,
  name,
  allowance,
}: Limiter & { name: string; allowance: Allowance }): Middleware {
  return async (ctx, next) => {
    const subject = `${name}:${addressSubject(ctx.state.address)}`;
    refuseUnlessAllowed(await count(ctx, rateLimits, subject, allowance));
    await next();
  };
}

/** Default limit of one address without a valid key. */
export const UNAUTHENTICATED_PER_MINUTE = 60;
const byAddress = (rate: number): Allowance => ({ rate, burst: Math.floor(rate * 1.5) });

/**
 * Counts by address every request that no other limit has counted: failed authentication, unknown paths, OPTIONS. So
 * every answer has the rate-limit headers, and above the allowance the answer is 429. Guessing a key is hopeless at any
 * rate (190 bits); the limit protects against floods: an address that has used up its window is refused before any work,
 * such as the look-up of its key. Requests with a valid key count against their tenant alone, so callers behind one NAT
 * do not affect each other: `hasOwnLimit` tells, without a look-up, that a request will be counted elsewhere.
 */
export function limitUncounted({
  rateLimits,
  perMinute,
  hasOwnLimit,
}: {
  rateLimits: Pick<RateLimits, 'take' | 'usedUp'>;
  perMinute: number;
  hasOwnLimit: (ctx: AppContext) => Promise<boolean>;
}): Middleware {
  const allowance = byAddress(perMinute);
  const subjectOf = (ctx: AppContext) => `ip:${addressSubject(ctx.state.address)}`;
  async function countByAddress(ctx: AppContext): Promise<RateLimit | null> {
    if (ctx.state.counted === true) return null;
    return count(ctx, rateLimits, subjectOf(ctx), allowance);
  }
  return async (ctx, next) => {
    const usedUp = rateLimits.usedUp(subjectOf(ctx), allowance);
    if (usedUp !== null && !(await hasOwnLimit(ctx))) {
      setHeaders(ctx, usedUp);
      refuseUnlessAllowed(usedUp);
    }
    try {
      await next();
    } catch (error) {
      const result = await countByAddress(ctx);
      // A 429 must not hide a failure of the service.
      if (result !== null && error instanceof ApiError && error.status < 500) {
        refuseUnlessAllowed(result);
      }
      throw error;
    }
    const result = await countByAddress(ctx);
    if (result !== null) refuseUnlessAllowed(result);
  };
}

async function count(
  ctx: AppContext,
  rateLimits: Pick<RateLimits, 'take'>,
  subject: string,
  allowance: Allowance,
): Promise<RateLimit> {
  const result = await rateLimits.take(subject, allowance);
  ctx.state.counted = true;
  setHeaders(ctx, result);
  return result;
}

/** Sets the rate-limit headers on an answer that is given without authentication and without counting. */
export function passUncounted(ctx: AppContext): void {
  setHeaders(ctx, assumedWindow(byAddress(UNAUTHENTICATED_PER_MINUTE), Date.now()));
}

/** The same headers for an answer to a request that never reaches the application. */
export const uncountedHeaders = () =>
  headersOf(assumedWindow(byAddress(UNAUTHENTICATED_PER_MINUTE), Date.now()));

function setHeaders(ctx: AppContext, result: RateLimit): void {
  // The answer was sent before the count arrived.
  if (ctx.headerSent) return;
  for (const [name, value] of headersOf(result)) ctx.res.setHeader(name, value);
}

const headersOf = ({ limit, remaining, resetAt }: RateLimit) =>
  [
    ['X-RateLimit-Limit', limit],
    ['X-RateLimit-Remaining', remaining],
    ['X-RateLimit-Reset', resetAt],
  ] as const;

/** Throws `rate_limit_exceeded` for a refused attempt. */
export function refuseUnlessAllowed(result: RateLimit): void {
  if (result.allowed) return;
  throw new ApiError('rate_limit_exceeded', {
    retryAfterSeconds: result.retryAfterSeconds,
    details: { limit: result.limit, window: WINDOW_NAME, retry_after: result.retryAfterSeconds },
  });
}
