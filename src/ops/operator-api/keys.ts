import { z } from 'zod';
import { canonicalRange } from '../../platform/api-keys/allowed-ips.js';
import { KEY_LEVELS, type Environment } from '../../platform/api-keys/api-key.js';
import { KEY_SCOPES, paysOut } from '../../platform/api-keys/scopes.js';
import { ApiError } from '../../shared/errors.js';
import type { ApiKeyInfo } from '../../platform/api-keys/store.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import {
  anyId,
  existing,
  LISTED,
  noSuch,
  printed,
  printedList,
  reason,
  reasonBody,
  tenantId,
} from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';
import { DAY_MS, HOUR_MS } from '../../shared/durations.js';

/** A century: a larger number is a typing error. */
export const MAX_DAYS = 36_500;
/** The longest overlap of two keys. */
export const MAX_OVERLAP_HOURS = 90 * 24;

const tag = 'API keys';
const range = z
  .string()
  .refine((text) => canonicalRange(text) !== null, 'must be an address or a CIDR range');
const expiresInDays = z.int().min(1).max(MAX_DAYS).optional();

/** Creates a key for a tenant. */
export const createKey = operation({
  id: 'createKey',
  tag,
  method: 'post',
  path: '/keys',
  summary: 'Create a key; the answer shows it once',
  roles: WORKERS,
  body: z.strictObject({
    tenant: tenantId,
    level: z.enum(KEY_LEVELS),
    public: z.boolean().default(false),
    label: plainText(100).optional(),
    scopes: z.array(z.enum(KEY_SCOPES)).min(1).optional(),
    allowed_ips: z.array(range).max(100).optional(),
    /** Live, for a key that pays out without a list of addresses. */
    any_address: z.boolean().default(false),
    expires_in_days: expiresInDays,
    reason: reason.optional(),
  }),
  act: 'keys.create',
  answer: { status: 200, data: orWaiting(z.object({ id: z.string(), key: z.string() })) },
});

/** Lists the keys of a tenant, or the oldest of all tenants. */
export const listKeys = operation({
  id: 'listKeys',
  tag,
  method: 'get',
  path: '/keys',
  summary: `List the keys of a tenant, or the oldest ${LISTED} in use of all tenants, with their last use`,
  roles: READERS,
  query: z.strictObject({ tenant: tenantId.optional() }),
  answer: { status: 200, data: printedList },
});

/** Replaces a key by a new one. */
export const rotateKey = operation({
  id: 'rotateKey',
  tag,
  method: 'post',
  path: '/keys/{id}/rotate',
  summary: 'Create a new key with the same settings; the old key works until the overlap ends',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({
    overlap_hours: z.int().min(0).max(MAX_OVERLAP_HOURS),
    expires_in_days: expiresInDays,
    reason: reason.optional(),
  }),
  act: 'keys.rotate',
  answer: {
    status: 200,
    data: orWaiting(z.object({ id: z.string(), key: z.string(), old_expires_at: z.string() })),
  },
});

/** Revokes a key. */
export const revokeKey = operation({
  id: 'revokeKey',
  tag,
  method: 'post',
  path: '/keys/{id}/revoke',
  summary: 'Revoke a key: every process refuses it within a second',
  roles: WORKERS,
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** The routes for API keys. */
export const keyRoutes = (deps: OperatorDeps): Route[] => [
  ...newKeyRoutes(deps),
  ...otherKeyRoutes(deps),
];

const newKeyRoutes = (deps: OperatorDeps): Route[] => [
  route(createKey, async (ctx, { body }) => {
    const { apiKeys, tenants, audit, config } = deps;
    const { tenant, level, label, allowed_ips: allowedIps } = body;
    const terms = termsOfNewKey(config.environment, body);
    if (!(await tenants.get(tenant))) throw noSuch('tenant');
    const asked = actOf(ctx, 'keys.create', tenant, {
      tenantId: tenant,
      reason: body.reason ?? null,
    });
    const act = await permit(deps, ctx, { act: asked, input: { body } }, { act: 'key' });
    if (!act) return;
    const given = {
      tenantId: tenant,
      level,
      kind: kindOf(body),
      ...(body.scopes && { scopes: body.scopes }),
      ...(label !== undefined && { label }),
      ...(allowedIps && { allowedIps }),
      ...(terms.days !== undefined && { expiresAt: inDays(terms.days) }),
    };
    const made = await audit.act(act, async (session) => {
      const key = await apiKeys.create(given, session);
      const after = await apiKeys.get(key.id, session);
      return { result: key, before: null, after: after && presentKey(after) };
    });
    sendData(ctx, 200, made);
  }),

  route(rotateKey, async (ctx, { params, body }) => {
    const { apiKeys, audit, config } = deps;
    const { id } = params;
    const before = await existing(apiKeys.get(id), 'key');
    const asked = actOf(ctx, 'keys.rotate', id, {
      tenantId: before.tenantId,
      reason: body.reason ?? null,
    });
    const act = await permit(deps, ctx, { act: asked, input: { params, body } }, { act: 'key' });
    if (!act) return;
    const { overlap_hours: overlap, expires_in_days: stated } = body;
    const lifetime = daysOfSuccessor(config.environment, before, stated);
    const how = {
      overlapMs: overlap * HOUR_MS,
      expiresAt: lifetime === undefined ? undefined : inDays(lifetime),
    };
    const made = await audit.act(act, async (session) => {
      const result = await apiKeys.rotate(id, how, session);
      const after = result && (await apiKeys.get(result.id, session));
      return result && { result, before: presentKey(before), after: after && presentKey(after) };
    });
    if (!made) throw noSuch('key that is active');
    const { id: newId, key, oldExpiresAt } = made;
    sendData(ctx, 200, { id: newId, key, old_expires_at: oldExpiresAt.toISOString() });
  }),
];

const otherKeyRoutes = ({ apiKeys, audit }: OperatorDeps): Route[] => [
  route(listKeys, async (ctx, { query: { tenant } }) => {
    if (tenant !== undefined) {
      return sendData(ctx, 200, (await apiKeys.list(tenant)).map(presentKey));
    }
    const found = await apiKeys.oldestInUse(LISTED);
    sendData(
      ctx,
      200,
      found.map((key) => ({ tenant: key.tenantId, ...presentKey(key) })),
    );
  }),

  route(revokeKey, async (ctx, { params: { id }, body }) => {
    const before = await existing(apiKeys.get(id), 'key');
    const act = actOf(ctx, 'keys.revoke', id, {
      tenantId: before.tenantId,
      reason: body.reason ?? null,
    });
    await audit.act(act, async (session) => {
      await apiKeys.revoke(id, session);
      const after = await apiKeys.get(id, session);
      return { result: true, before: presentKey(before), after: after && presentKey(after) };
    });
    sendData(ctx, 200, { id, revoked: true });
  }),
];

type KeyBody = Pick<
  z.output<typeof createKey.body>,
  'public' | 'level' | 'scopes' | 'any_address'
> &
  Partial<Pick<z.output<typeof createKey.body>, 'allowed_ips' | 'expires_in_days'>>;

const kindOf = ({ public: isPublic }: Pick<KeyBody, 'public'>) =>
  isPublic ? ('public' as const) : ('secret' as const);

/**
 * The lifetime of a new key. Keys of live expire after a year unless told otherwise. Throws `validation_error` for a live key that
 * can pay out from any address unless the request says that it may, and for scopes of a public key, which has its own.
 */
export function termsOfNewKey(
  environment: Environment,
  body: KeyBody,
): { days: number | undefined } {
  const { scopes = null, allowed_ips: addresses = [] } = body;
  if (body.public && scopes) refuse('scopes', 'A public key has no scopes.');
  const isOpen = addresses.length === 0 && !body.any_address;
  const canPayOut = paysOut({ kind: kindOf(body), level: body.level, scopes });
  if (environment === 'live' && canPayOut && isOpen) {
    refuse(
      'allowed_ips',
      'This key can pay out: name the addresses that may use it, or allow any address with any_address.',
    );
  }
  return { days: body.expires_in_days ?? usualDays(environment) };
}

/** The lifetime of a key without a stated one; undefined: it does not expire. */
const usualDays = (environment: Environment) => (environment === 'live' ? 365 : undefined);

/**
 * The stated lifetime of the successor of a key; undefined: that of the key. In live, a key that does not expire has a successor
 * that does, as every new key.
 */
export const daysOfSuccessor = (
  environment: Environment,
  { expiresAt }: Pick<ApiKeyInfo, 'expiresAt'>,
  stated: number | undefined,
): number | undefined => stated ?? (expiresAt === null ? usualDays(environment) : undefined);

function refuse(field: string, message: string): never {
  throw new ApiError('validation_error', { field, message });
}

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

const presentKey = (key: ApiKeyInfo) => ({
  id: key.id,
  kind: key.kind,
  level: key.level,
  scopes: key.scopes,
  label: key.label,
  allowed_ips: key.allowedIps,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  replaced_by: key.replacedBy,
  rotation_due: key.rotationDue,
});
