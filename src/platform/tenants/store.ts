import type { ClientSession, Db } from 'mongodb';
import type { CollectionSpec } from '../database/migrations.js';
import { newId } from '../../shared/ids.js';
import {
  DEFAULT_TRANSFER_LIMITS,
  FEATURES,
  PLAN_NAMES,
  SAFEGUARD_NAMES,
  type Feature,
  type Plan,
  type Safeguard,
  type Tenant,
} from './tenant.js';

type TenantDocument = {
  _id: string;
  name: string;
  plan: Plan;
  rate_per_minute: number | null;
  features: Record<Feature, boolean>;
  /** Rates that differ from the defaults of SAFEGUARDS. */
  safeguards: Partial<Record<Safeguard, number>>;
  limits: { min_minor: bigint; max_minor: bigint; daily_minor: bigint };
  bill_fee_minor: bigint;
  /** Null: those of the deployment. */
  dunning_days: number[] | null;
  frozen_at?: Date | null;
  created_at: Date;
};

const positiveLong = { bsonType: 'long', minimum: 1 };

/** The collection of tenants with its validator. */
export const tenantsCollection: CollectionSpec = {
  name: 'tenants',
  validator: {
    bsonType: 'object',
    required: [
      'name',
      'plan',
      'rate_per_minute',
      'features',
      'safeguards',
      'limits',
      'bill_fee_minor',
      'dunning_days',
      'created_at',
    ],
    properties: {
      name: { bsonType: 'string', minLength: 1 },
      plan: { enum: PLAN_NAMES },
      rate_per_minute: { bsonType: ['int', 'null'], minimum: 1 },
      features: {
        bsonType: 'object',
        properties: Object.fromEntries(
          FEATURES.map((feature) => [feature, { bsonType: 'bool' as const }]),
        ),
      },
      safeguards: {
        bsonType: 'object',
        properties: Object.fromEntries(
          SAFEGUARD_NAMES.map((name) => [name, { bsonType: 'int' as const, minimum: 1 }]),
        ),
      },
      limits: {
        bsonType: 'object',
        required: ['min_minor', 'max_minor', 'daily_minor'],
        properties: {
          min_minor: positiveLong,
          max_minor: positiveLong,
          daily_minor: positiveLong,
        },
      },
      bill_fee_minor: { bsonType: 'long', minimum: 0 },
      dunning_days: { bsonType: ['array', 'null'], maxItems: 20 },
      frozen_at: { bsonType: ['date', 'null'] },
      created_at: { bsonType: 'date' },
    },
  },
  indexes: [],
};

/** The properties of a tenant that is to be created. */
export type NewTenant = {
  name: string;
  plan: Plan;
  /** A custom rate. Its burst is one and a half times the rate. */
  ratePerMinute?: number;
  dailyLimitMinor?: bigint;
  features?: Partial<Record<Feature, boolean>>;
};

/** Changes to a tenant. Properties that are missing stay as they are. */
export type TenantChanges = {
  plan?: Plan;
  /** Null restores the rate of the plan. */
  ratePerMinute?: number | null;
  /** Bounds of the amount of one transfer, in kobo. */
  minMinor?: bigint;
  maxMinor?: bigint;
  dailyLimitMinor?: bigint;
  billFeeMinor?: bigint;
  features?: Partial<Record<Feature, boolean>>;
  safeguards?: Partial<Record<Safeguard, number>>;
  /** Null unfreezes the tenant. */
  frozenAt?: Date | null;
  /** Null restores the days of the deployment. */
  dunningDays?: number[] | null;
};

/** The tenants of a deployment. */
export type Tenants = ReturnType<typeof createTenants>;

/**
 * Creates the store of tenants. Only operators change them; every process applies a change within a second.
 */
export function createTenants({ db, environment }: { db: Db; environment: 'sandbox' | 'live' }) {
  const tenants = db.collection<TenantDocument>('tenants');

  return {
    /**
     * Creates a tenant. In the sandbox every feature is on unless it is switched off by name; in live every feature is
     * off unless it is switched on by name.
     */
    async create(input: NewTenant, session?: ClientSession): Promise<Tenant> {
      const document: TenantDocument = {
        _id: newId('tenant'),
        name: input.name,
        plan: input.plan,
        rate_per_minute: input.ratePerMinute ?? null,
        features: { ...allFeatures(environment === 'sandbox'), ...input.features },
        safeguards: {},
        limits: {
          min_minor: DEFAULT_TRANSFER_LIMITS.minMinor,
          max_minor: DEFAULT_TRANSFER_LIMITS.maxMinor,
          daily_minor: input.dailyLimitMinor ?? DEFAULT_TRANSFER_LIMITS.dailyMinor,
        },
        bill_fee_minor: 0n,
        dunning_days: null,
        created_at: new Date(),
      };
      await tenants.insertOne(document, session ? { session } : {});
      return toTenant(document);
    },

    async get(id: string, session?: ClientSession): Promise<Tenant | null> {
      const document = await tenants.findOne({ _id: id }, session ? { session } : {});
      return document && toTenant(document);
    },

    /** Those of these tenants that are frozen. */
    frozenOf: (ids: readonly string[]): Promise<string[]> =>
      tenants.distinct('_id', { _id: { $in: [...ids] }, frozen_at: { $type: 'date' } }),

    async list(): Promise<Tenant[]> {
      return (await tenants.find().sort({ _id: 1 }).toArray()).map(toTenant);
    },

    /** Applies the changes; null if the tenant does not exist. */
    async update(
      id: string,
      changes: TenantChanges,
      session?: ClientSession,
    ): Promise<Tenant | null> {
      const fields = toFields(changes);
      if (Object.keys(fields).length === 0) return this.get(id, session);
      const document = await tenants.findOneAndUpdate(
        { _id: id },
        { $set: fields },
        { returnDocument: 'after', ...(session && { session }) },
      );
      return document && toTenant(document);
    },
  };
}

function allFeatures(on: boolean): Record<Feature, boolean> {
  return { identity: on, virtual_accounts: on, cards: on, billpay: on };
}

function toFields(changes: TenantChanges): Record<string, unknown> {
  const { plan, ratePerMinute, features = {}, safeguards = {}, dunningDays } = changes;
  const { minMinor, maxMinor, dailyLimitMinor, billFeeMinor } = changes;
  const within = (name: string, values: object) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [`${name}.${key}`, value]));
  return {
    ...(plan !== undefined && { plan }),
    ...(ratePerMinute !== undefined && { rate_per_minute: ratePerMinute }),
    ...(minMinor !== undefined && { 'limits.min_minor': minMinor }),
    ...(maxMinor !== undefined && { 'limits.max_minor': maxMinor }),
    ...(dailyLimitMinor !== undefined && { 'limits.daily_minor': dailyLimitMinor }),
    ...(billFeeMinor !== undefined && { bill_fee_minor: billFeeMinor }),
    ...(dunningDays !== undefined && { dunning_days: dunningDays }),
    ...(changes.frozenAt !== undefined && { frozen_at: changes.frozenAt }),
    ...within('features', features),
    ...within('safeguards', safeguards),
  };
}

function toTenant(document: TenantDocument): Tenant {
  return {
    id: document._id,
    name: document.name,
    plan: document.plan,
    ratePerMinute: document.rate_per_minute,
    features: document.features,
    safeguards: document.safeguards,
    limits: {
      minMinor: document.limits.min_minor,
      maxMinor: document.limits.max_minor,
      dailyMinor: document.limits.daily_minor,
    },
    billFeeMinor: document.bill_fee_minor,
    dunningDays: document.dunning_days,
    frozenAt: document.frozen_at ?? null,
    createdAt: document.created_at,
  };
}
