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

type Limiter = { rateLimits: Pick<RateLimits, 'take'> };

/** Provider callbacks, per route family and address: far above what a provider sends, far below what would hurt. */
export const CALLBACK_ALLOWANCE: Allowance = { rate: 60_000, burst: 90_000 };

/** Counts the request against its tenant, and refuses it when the window is used up. */
export function limitByTenant({ rateLimits }: Limiter): Middleware {
  return async (ctx, next) => {
    const { tenant } = callerOf(ctx);
    refuseUnlessAllowed(await count(ctx, rateLimits, tenant.id, allowance(tenant)));
    await next();
  };
}

/**
 * For handlers: a tighter limit besides the tenant's, by its own figure or the default, for the tenant or for `each` of
 * something within it, a card for one. The headers tell of the limit that has less left.
 */
export function createSafeguard({ rateLimits }: Limiter) {
  return async (ctx: AppContext, name: Safeguard, each = ''): Promise<void> => {
    const { tenant } = callerOf(ctx);
    // A caller chooses what `each` is, and how long.
    const whose = createHash('sha256').update(`${tenant.id}/${each}`).digest('base64url');
    const result = await rateLimits.take(`${name}:${whose}`, safeguardAllowance(tenant, name));
    const leftOfTenant = Number(ctx.res.getHeader('X-RateLimit-Remaining'));
    if (!result.allowed || result.remaining < leftOfTenant) setHeaders(ctx, result);
    refuseUnlessAllowed(result);
  };
}

/** Counts the request against the address it comes from, apart for each `name`: for routes without keys. */
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

/** What one address may do without a valid key, unless told otherwise. */
export const UNAUTHENTICATED_PER_MINUTE = 60;
const byAddress = (rate: number): Allowance => ({ rate, burst: Math.floor(rate * 1.5) });

/**
 * Counts by address whatever was counted by nobody else: failed authentication, unknown paths, OPTIONS. So every answer
 * carries the headers, and past the allowance the answer is a 429. Guessing a key is hopeless at any rate (190 bits); this
 * is for whoever hammers. A valid key is counted against its tenant alone, so no neighbour behind the same NAT hurts it.
 */
export function limitUncounted({
  rateLimits,
  perMinute,
}: Limiter & { perMinute: number }): Middleware {
  const allowance = byAddress(perMinute);
  async function countByAddress(ctx: AppContext): Promise<RateLimit | null> {
    if (ctx.state.counted === true) return null;
    const subject = `ip:${addressSubject(ctx.state.address)}`;
    return count(ctx, rateLimits, subject, allowance);
  }
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const result = await countByAddress(ctx);
      // What failed on our side says so: a 429 would hide it.
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

/** For an answer that nothing is asked for, neither the key nor the counter: it has the headers all the same. */
export function passUncounted(ctx: AppContext): void {
  setHeaders(ctx, assumedWindow(byAddress(UNAUTHENTICATED_PER_MINUTE), Date.now()));
}

/** The same for what never becomes a request of ours. */
export const uncountedHeaders = () =>
  headersOf(assumedWindow(byAddress(UNAUTHENTICATED_PER_MINUTE), Date.now()));

function setHeaders(ctx: AppContext, result: RateLimit): void {
  // Counted too late: it was answered without.
  if (ctx.headerSent) return;
  for (const [name, value] of headersOf(result)) ctx.res.setHeader(name, value);
}

const headersOf = ({ limit, remaining, resetAt }: RateLimit) =>
  [
    ['X-RateLimit-Limit', limit],
    ['X-RateLimit-Remaining', remaining],
    ['X-RateLimit-Reset', resetAt],
  ] as const;

function refuseUnlessAllowed(result: RateLimit): void {
  if (result.allowed) return;
  throw new ApiError('rate_limit_exceeded', {
    retryAfterSeconds: result.retryAfterSeconds,
    details: { limit: result.limit, window: WINDOW_NAME, retry_after: result.retryAfterSeconds },
  });
}
