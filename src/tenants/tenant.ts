import type { Allowance } from '../rate-limits/rate-limit.js';

/** The plans and their published rates, requests in a minute. Enterprise brings its own rate. */
export const PLANS = {
  sandbox: { ratePerMinute: 100, burstPerMinute: 150 },
  starter: { ratePerMinute: 1_000, burstPerMinute: 1_500 },
  growth: { ratePerMinute: 5_000, burstPerMinute: 7_500 },
  scale: { ratePerMinute: 10_000, burstPerMinute: 15_000 },
  enterprise: { ratePerMinute: 10_000, burstPerMinute: 15_000 },
} as const;

export type Plan = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as [Plan, ...Plan[]];

export const FEATURES = ['identity', 'virtual_accounts', 'cards', 'billpay'] as const;
export type Feature = (typeof FEATURES)[number];

/** Tighter limits on what is risky or dear, attempts in a minute; a tenant may have figures of its own. */
const SAFEGUARDS = { kyc: 5, card_fund: 30, card_events: 60 } as const;
export type Safeguard = keyof typeof SAFEGUARDS;
export const SAFEGUARD_NAMES = Object.keys(SAFEGUARDS) as [Safeguard, ...Safeguard[]];

/** Bounds of one transfer and of one day (Africa/Lagos), in kobo. */
export type TransferLimits = { minMinor: bigint; maxMinor: bigint; dailyMinor: bigint };

export const DEFAULT_TRANSFER_LIMITS: TransferLimits = {
  minMinor: 100n,
  maxMinor: 500_000_000n,
  dailyMinor: 1_000_000_000n,
};

/** Of an amount below 1, which is refused before the tenant's own limits are known. */
export const BELOW_MINIMUM = `must be at least ${DEFAULT_TRANSFER_LIMITS.minMinor}, unless your account has another minimum`;

export type Tenant = {
  id: string;
  name: string;
  plan: Plan;
  /** Set for a custom rate; its burst is one and a half times it. */
  ratePerMinute: number | null;
  features: Record<Feature, boolean>;
  /** Only those that differ from the default. */
  safeguards: Partial<Record<Safeguard, number>>;
  limits: TransferLimits;
  /** After so many days a softly declined charge is tried again; null: as the deployment has it. */
  dunningDays: readonly number[] | null;
  createdAt: Date;
};

/** The published limit of a tenant. */
export function allowance(tenant: Pick<Tenant, 'plan' | 'ratePerMinute'>): Allowance {
  if (tenant.ratePerMinute !== null) {
    return { rate: tenant.ratePerMinute, burst: Math.floor(tenant.ratePerMinute * 1.5) };
  }
  const plan = PLANS[tenant.plan];
  return { rate: plan.ratePerMinute, burst: plan.burstPerMinute };
}

/** A safeguard has no burst: its figure is what it lets pass. */
export function safeguardAllowance(tenant: Pick<Tenant, 'safeguards'>, name: Safeguard): Allowance {
  const rate = tenant.safeguards[name] ?? SAFEGUARDS[name];
  return { rate, burst: rate };
}
