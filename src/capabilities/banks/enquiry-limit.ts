import { callerOf, type AppContext } from '../../platform/http/context.js';
import { refusalOf, showTighterLimit } from '../../platform/http/rate-limit.js';
import type { RateLimits } from '../../platform/rate-limits/store.js';
import { safeguardAllowance } from '../../platform/tenants/tenant.js';
import type { ApiError } from '../../shared/errors.js';

/**
 * The limit of answers about account holders that lead to no transfer: such an answer costs nothing, so without a limit
 * every account of a bank could be tried. It is the safeguard `name_enquiry`, counted for the tenant, once for each account.
 */
export type EnquiryLimit = {
  /** Returns the refusal if the limit is known to be used up, or null. Counts nothing. */
  check(): ApiError | null;
  /** Counts `times` answers, and returns the refusal if they are above the limit, or null. */
  count(times?: number): Promise<ApiError | null>;
};

/** The limit of callers that have none, such as benches. */
export const NO_ENQUIRY_LIMIT: EnquiryLimit = { check: () => null, count: async () => null };

/** The limit for the caller of a request. The headers of the response show it if it has less remaining. */
export function enquiryLimitOf(
  ctx: AppContext,
  rateLimits: Pick<RateLimits, 'take' | 'usedUp'>,
): EnquiryLimit {
  const { tenant } = callerOf(ctx);
  const subject = `name_enquiry:${tenant.id}`;
  const allowance = safeguardAllowance(tenant, 'name_enquiry');
  return {
    check() {
      const usedUp = rateLimits.usedUp(subject, allowance);
      if (usedUp === null) return null;
      showTighterLimit(ctx, usedUp);
      return refusalOf(usedUp);
    },
    async count(times = 1) {
      if (times === 0) return null;
      const attempts = Array.from({ length: times }, () => rateLimits.take(subject, allowance));
      const last = (await Promise.all(attempts)).reduce((worst, each) =>
        each.allowed && each.remaining >= worst.remaining ? worst : each,
      );
      showTighterLimit(ctx, last);
      return refusalOf(last);
    },
  };
}
