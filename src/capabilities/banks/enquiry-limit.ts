import type { RateLimit } from '../../platform/rate-limits/rate-limit.js';
import type { RateLimits } from '../../platform/rate-limits/store.js';
import { safeguardAllowance, type Tenant } from '../../platform/tenants/tenant.js';

/**
 * The limit of answers about account holders that lead to no transfer: such an answer costs nothing, so without a limit
 * every account of a bank could be tried. It is the safeguard `name_enquiry`, counted for the tenant, once for each account.
 */
export type EnquiryLimit = {
  /** True if the limit is known to be used up. Counts nothing. */
  isUsedUp(): boolean;
  /** Counts `times` answers. The result is that of the last one. */
  count(times?: number): Promise<RateLimit>;
};

/** Creates the limit of a tenant. */
export const createEnquiryLimit =
  (rateLimits: Pick<RateLimits, 'take' | 'usedUp'>) =>
  (tenant: Tenant): EnquiryLimit => {
    const subject = `name_enquiry:${tenant.id}`;
    const allowance = safeguardAllowance(tenant, 'name_enquiry');
    return {
      isUsedUp: () => rateLimits.usedUp(subject, allowance) !== null,
      async count(times = 1) {
        const attempts = Array.from({ length: times }, () => rateLimits.take(subject, allowance));
        return (await Promise.all(attempts)).reduce((last, each) =>
          each.allowed && each.remaining >= last.remaining ? last : each,
        );
      },
    };
  };
