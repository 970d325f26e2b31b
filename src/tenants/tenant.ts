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

/** Bounds of one transfer and of one day (Africa/Lagos), in kobo. */
export type TransferLimits = { minMinor: bigint; maxMinor: bigint; dailyMinor: bigint };

export const DEFAULT_TRANSFER_LIMITS: TransferLimits = {
  minMinor: 100n,
  maxMinor: 500_000_000n,
  dailyMinor: 1_000_000_000n,
};

export type Tenant = {
  id: string;
  name: string;
  plan: Plan;
  /** Set for a custom rate; its burst is one and a half times it. */
  ratePerMinute: number | null;
  features: Record<Feature, boolean>;
  limits: TransferLimits;
  createdAt: Date;
};

/** What a window of 60 s allows: `rate` in the long run, `burst` after a window that stayed within the rate. */
export function allowance(tenant: Pick<Tenant, 'plan' | 'ratePerMinute'>): {
  rate: number;
  burst: number;
} {
  if (tenant.ratePerMinute !== null) {
    return { rate: tenant.ratePerMinute, burst: Math.floor(tenant.ratePerMinute * 1.5) };
  }
  const plan = PLANS[tenant.plan];
  return { rate: plan.ratePerMinute, burst: plan.burstPerMinute };
}
