import type { Allowance } from '../rate-limits/rate-limit.js';

/** The plans with their published rates, in requests per minute. A tenant on enterprise has a custom rate. */
export const PLANS = {
  sandbox: { ratePerMinute: 100, burstPerMinute: 150 },
  starter: { ratePerMinute: 1_000, burstPerMinute: 1_500 },
  growth: { ratePerMinute: 5_000, burstPerMinute: 7_500 },
  scale: { ratePerMinute: 10_000, burstPerMinute: 15_000 },
  enterprise: { ratePerMinute: 10_000, burstPerMinute: 15_000 },
} as const;

/** The name of a plan. */
export type Plan = keyof typeof PLANS;
/** The names of all plans. */
export const PLAN_NAMES = Object.keys(PLANS) as [Plan, ...Plan[]];

/** The features that are switched on and off for a tenant. */
export const FEATURES = ['identity', 'virtual_accounts', 'cards', 'billpay'] as const;
/** The name of a feature. */
export type Feature = (typeof FEATURES)[number];

/** Tighter limits for risky or expensive operations, in attempts per minute. A tenant may have figures of its own. */
const SAFEGUARDS = { kyc: 5, card_fund: 30, card_events: 60, name_enquiry: 300 } as const;
/** The name of a safeguard. */
export type Safeguard = keyof typeof SAFEGUARDS;
/** The names of all safeguards. */
export const SAFEGUARD_NAMES = Object.keys(SAFEGUARDS) as [Safeguard, ...Safeguard[]];

/** Bounds of one transfer and of one day (Africa/Lagos), in kobo. */
type TransferLimits = { minMinor: bigint; maxMinor: bigint; dailyMinor: bigint };

/** The limits of a tenant without limits of its own. */
export const DEFAULT_TRANSFER_LIMITS: TransferLimits = {
  minMinor: 100n,
  maxMinor: 500_000_000n,
  dailyMinor: 1_000_000_000n,
};

/** Message for an amount below 1, which is refused before the tenant's own limits are known. */
export const BELOW_MINIMUM = `must be at least ${DEFAULT_TRANSFER_LIMITS.minMinor}, unless your account has another minimum`;

/** A tenant with everything that decides about its requests. */
export type Tenant = {
  id: string;
  name: string;
  plan: Plan;
  /** A custom rate, or null for the plan's. Its burst is one and a half times the rate. */
  ratePerMinute: number | null;
  features: Record<Feature, boolean>;
  /** Only the figures that differ from the default. */
  safeguards: Partial<Record<Safeguard, number>>;
  limits: TransferLimits;
  /** The fee of one bill payment, in kobo. */
  billFeeMinor: bigint;
  /** Days after which a charge with a soft decline is retried; null means the deployment's. */
  dunningDays: readonly number[] | null;
  /** Since when an operator has frozen the tenant: nothing new is accepted, and what is under way ends. Null if it is not. */
  frozenAt: Date | null;
  createdAt: Date;
};

/** The published rate limit of a tenant. */
export function allowance(tenant: Pick<Tenant, 'plan' | 'ratePerMinute'>): Allowance {
  if (tenant.ratePerMinute !== null) {
    return { rate: tenant.ratePerMinute, burst: Math.floor(tenant.ratePerMinute * 1.5) };
  }
  const plan = PLANS[tenant.plan];
  return { rate: plan.ratePerMinute, burst: plan.burstPerMinute };
}

/** The limit of a safeguard for a tenant. A safeguard has no burst. */
export function safeguardAllowance(tenant: Pick<Tenant, 'safeguards'>, name: Safeguard): Allowance {
  const rate = tenant.safeguards[name] ?? SAFEGUARDS[name];
  return { rate, burst: rate };
}
