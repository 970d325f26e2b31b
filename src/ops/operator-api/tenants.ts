import { z } from 'zod';
import type { AuditedState } from '../../core/audit/entry.js';
import type { WalletDocument } from '../../core/ledger/wallet.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import {
  allowance,
  DEFAULT_TRANSFER_LIMITS,
  FEATURES,
  PLAN_NAMES,
  SAFEGUARD_NAMES,
  safeguardAllowance,
  type Tenant,
} from '../../platform/tenants/tenant.js';
import type { TenantChanges } from '../../platform/tenants/store.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import {
  amount,
  existing,
  noSuch,
  printed,
  printedList,
  reason,
  reasonBody,
  refuseField,
  tenantId,
} from './schema.js';
import { assertPermitted, orAsk, orWaiting } from './second-person.js';
import { actOf } from './sign-in.js';

const tag = 'Tenants';
/** With bursts of one and a half times the rate, the count still fits its field. */
const rate = z.int().min(1).max(1_000_000_000);
const onOff = Object.fromEntries(FEATURES.map((name) => [name, z.boolean().optional()]));
const rates = Object.fromEntries(SAFEGUARD_NAMES.map((name) => [name, rate.optional()]));
const days = z
  .array(z.number().positive().max(90))
  .max(20)
  .refine((list) => list.every((day, i) => day > (list[i - 1] ?? 0)), 'must be in ascending order');

/** Creates a tenant. */
export const createTenant = operation({
  id: 'createTenant',
  tag,
  method: 'post',
  path: '/tenants',
  summary: 'Create a tenant',
  roles: WORKERS,
  body: z.strictObject({
    name: plainText(200),
    plan: z.enum(PLAN_NAMES),
    rate_per_minute: rate.optional(),
    daily_limit_minor: amount.optional(),
    reason: reason.optional(),
  }),
  act: 'tenants.create',
  answer: { status: 200, data: orWaiting(printed) },
});

/** Lists all tenants. */
export const listTenants = operation({
  id: 'listTenants',
  tag,
  method: 'get',
  path: '/tenants',
  summary: 'List all tenants',
  roles: READERS,
  answer: { status: 200, data: printedList },
});

/** Shows a tenant with its limits and features. */
export const getTenant = operation({
  id: 'getTenant',
  tag,
  method: 'get',
  path: '/tenants/{id}',
  summary: 'Show a tenant with its limits and features',
  roles: READERS,
  params: { id: tenantId },
  answer: { status: 200, data: printed },
});

/** Changes settings of a tenant. */
export const updateTenant = operation({
  id: 'updateTenant',
  tag,
  method: 'put',
  path: '/tenants/{id}',
  summary: 'Change the given settings of a tenant',
  description: 'Settings that are left out stay. Every process applies a change within a second.',
  roles: WORKERS,
  params: { id: tenantId },
  body: z.strictObject({
    plan: z.enum(PLAN_NAMES).optional(),
    rate_per_minute: rate.nullable().optional(),
    min_amount_minor: amount.optional(),
    max_amount_minor: amount.optional(),
    daily_limit_minor: amount.optional(),
    bill_fee_minor: amount.or(z.literal(0)).optional(),
    features: z.strictObject(onOff).optional(),
    safeguards: z.strictObject(rates).optional(),
    dunning_days: days.nullable().optional(),
    reason: reason.optional(),
  }),
  act: 'tenants.update',
  answer: { status: 200, data: orWaiting(printed) },
});

/** Freezes or unfreezes a tenant. */
export const freezeTenant = operation({
  id: 'freezeTenant',
  tag,
  method: 'post',
  path: '/tenants/{id}/{change}',
  summary: 'Freeze a tenant, or end its freeze',
  description:
    'While a tenant is frozen, nothing new is accepted, authorizations are declined, renewals and reloads wait, and what is ' +
    'under way ends. Every process applies it within a second.',
  roles: WORKERS,
  params: { id: tenantId, change: z.enum(['freeze', 'unfreeze']) },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** The routes for tenants. */
export const tenantRoutes = (deps: OperatorDeps): Route[] => [
  freezeRoute(deps),
  createRoute(deps),
  updateRoute(deps),

  route(listTenants, async (ctx) => {
    const found = await deps.tenants.list();
    sendData(
      ctx,
      200,
      found.map(({ id, name, plan }) => ({ id, name, plan })),
    );
  }),

  route(getTenant, async (ctx, { params }) => {
    const tenant = await existing(deps.tenants.get(params.id), 'tenant');
    sendData(ctx, 200, presentTenant(tenant));
  }),
];

const createRoute = (deps: OperatorDeps): Route =>
  route(createTenant, async (ctx, { body }) => {
    const { name, plan, rate_per_minute: ratePerMinute, daily_limit_minor: daily } = body;
    const given = {
      name,
      plan,
      ...(ratePerMinute !== undefined && { ratePerMinute }),
      ...(daily !== undefined && { dailyLimitMinor: BigInt(daily) }),
    };
    const act = actOf(ctx, 'tenants.create', name, { reason: body.reason ?? null });
    const create = () =>
      deps.audit.act(act, async (session) => {
        const tenant = await deps.tenants.create(given, session);
        const usual = { ...tenant, ratePerMinute: null, limits: DEFAULT_TRANSFER_LIMITS };
        const raised = raisedLimits(usual, tenant);
        assertPermitted(deps, act, { act: 'limits', raised }, null);
        return { result: tenant, before: null, after: presentTenant(tenant) };
      });
    const made = await orAsk(deps, ctx, { act, input: { body } }, create);
    if (made === 'waits') return;
    if (!made) throw noSuch('tenant');
    sendData(ctx, 200, { id: made.id, name: made.name, plan: made.plan });
  });

const updateRoute = (deps: OperatorDeps): Route =>
  route(updateTenant, async (ctx, { params, body }) => {
    const { id } = params;
    const changes = changesOf(body);
    if (Object.keys(changes).length === 0) throw refuseField('body', 'names no setting to change');
    const act = actOf(ctx, 'tenants.update', id, { tenantId: id, reason: body.reason ?? null });
    const update = () =>
      deps.audit.act(act, async (session) => {
        const before = await deps.tenants.get(id, session);
        if (!before) return null;
        assertOrder(before, changes);
        const after = await deps.tenants.update(id, changes, session);
        if (!after) return null;
        const shown = { before: presentTenant(before), after: presentTenant(after) };
        const raised = raisedLimits(before, after);
        assertPermitted(deps, act, { act: 'limits', raised }, shown.before);
        return { result: after, ...shown };
      });
    const changed = await orAsk(deps, ctx, { act, input: { params, body } }, update);
    if (changed === 'waits') return;
    if (!changed) throw noSuch('tenant');
    sendData(ctx, 200, presentTenant(changed));
  });

/** Refuses changes after which the least amount of a transfer would be above the highest. */
function assertOrder({ limits }: Tenant, changes: TenantChanges): void {
  const { minMinor = limits.minMinor, maxMinor = limits.maxMinor } = changes;
  if (minMinor <= maxMinor) return;
  throw refuseField('min_amount_minor', 'the least amount of a transfer is above the highest');
}

/** The names of the limits that are higher after a change, also the rates of a plan. */
function raisedLimits(before: Tenant, after: Tenant): string[] {
  const limitsOf = (tenant: Tenant) => {
    const { rate_per_minute, max_amount_minor, daily_limit_minor, safeguards } =
      presentTenant(tenant);
    return { rate_per_minute, max_amount_minor, daily_limit_minor, ...safeguards };
  };
  const old: Record<string, number> = limitsOf(before);
  return Object.entries(limitsOf(after)).flatMap(([name, value]) =>
    value > (old[name] ?? 0) ? [name] : [],
  );
}

const NO_LIMIT_USED = { limit_day: '', limit_used_minor: 0n };

const freezeRoute = ({
  tenants,
  audit,
  database: { db },
}: Pick<OperatorDeps, 'tenants' | 'audit' | 'database'>): Route =>
  route(freezeTenant, async (ctx, { params: { id, change }, body }) => {
    const freezes = change === 'freeze';
    const why = { tenantId: id, reason: body.reason ?? null };
    const act = actOf(ctx, `tenants.${change}`, id, why);
    const changed = await audit.act(act, async (session) => {
      const before = await tenants.get(id, session);
      const frozenAt = freezes ? (before?.frozenAt ?? new Date()) : null;
      const after = before && (await tenants.update(id, { frozenAt }, session));
      if (!after) return null;
      // Commits that reload a card read the wallet. The version makes those conflict that run now. A tenant that never had money
      // gets its wallet here.
      const wallets = db.collection<WalletDocument>('wallets');
      const mark = {
        $set: { is_frozen: freezes },
        $inc: { version: 1n },
        $setOnInsert: { available_minor: 0n, receivable_minor: 0n, ...NO_LIMIT_USED },
      };
      await wallets.updateOne({ _id: id }, mark, { session, upsert: freezes });
      return { result: after, before: presentTenant(before), after: presentTenant(after) };
    });
    if (!changed) throw noSuch('tenant');
    sendData(ctx, 200, presentTenant(changed));
  });

function changesOf(body: z.output<typeof updateTenant.body>): TenantChanges {
  const { plan, rate_per_minute: ratePerMinute, features, safeguards } = body;
  const { min_amount_minor: min, max_amount_minor: max, daily_limit_minor: daily } = body;
  const { dunning_days: dunningDays, bill_fee_minor: billFee } = body;
  return {
    ...(plan && { plan }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    ...(min !== undefined && { minMinor: BigInt(min) }),
    ...(max !== undefined && { maxMinor: BigInt(max) }),
    ...(daily !== undefined && { dailyLimitMinor: BigInt(daily) }),
    ...(billFee !== undefined && { billFeeMinor: BigInt(billFee) }),
    ...(features && { features }),
    ...(safeguards && { safeguards }),
    ...(dunningDays !== undefined && { dunningDays }),
  };
}

/** A tenant with its settings, as operators see it. */
export function presentTenant(tenant: Tenant) {
  const { rate: perMinute, burst } = allowance(tenant);
  const safeguards = SAFEGUARD_NAMES.map((name) => [name, safeguardAllowance(tenant, name).rate]);
  return {
    id: tenant.id,
    name: tenant.name,
    plan: tenant.plan,
    rate_per_minute: perMinute,
    burst_per_minute: burst,
    min_amount_minor: toWireAmount(tenant.limits.minMinor),
    max_amount_minor: toWireAmount(tenant.limits.maxMinor),
    daily_limit_minor: toWireAmount(tenant.limits.dailyMinor),
    bill_fee_minor: toWireAmount(tenant.billFeeMinor),
    dunning_days: tenant.dunningDays ?? 'default',
    ...tenant.features,
    safeguards: Object.fromEntries(safeguards) as Record<string, number>,
    frozen_at: tenant.frozenAt?.toISOString() ?? null,
    created_at: tenant.createdAt.toISOString(),
  } satisfies AuditedState;
}
