import { z } from 'zod';
import type { Context } from '../../platform/http/context.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import type { Act } from '../../core/audit/entry.js';
import { lineOf, OPERATOR_ROLES } from '../../platform/operators/operator.js';
import type { OperatorAccount } from '../../platform/operators/store.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { ADMINS, READERS } from './roles.js';
import { anyId, noSuch, printed, printedList, reason, reasonBody } from './schema.js';
import { actOf, operatorOf } from './sign-in.js';
import { DAY_MS } from '../../shared/durations.js';

/** Lifetime of an operator's key. */
const KEY_DAYS = 365;

const tag = 'Operators';
const roles = z.array(z.enum(OPERATOR_ROLES)).min(1).max(OPERATOR_ROLES.length);
const newKey = z.object({ id: z.string(), key: z.string(), expires_at: z.string().nullable() });

/** Creates an operator with a key. */
export const createOperator = operation({
  id: 'createOperator',
  tag,
  method: 'post',
  path: '/operators',
  summary: 'Create an operator with a first key; the answer shows the key once',
  roles: ADMINS,
  body: z.strictObject({
    name: plainText(100),
    email: z.email(),
    roles,
    reason: reason.optional(),
  }),
  answer: { status: 200, data: z.object({ id: z.string(), key: newKey }) },
});

/** Lists all operators. */
export const listOperators = operation({
  id: 'listOperators',
  tag,
  method: 'get',
  path: '/operators',
  summary: 'List all operators',
  roles: READERS,
  answer: { status: 200, data: printedList },
});

/** Changes the roles of an operator, or disables and enables the account. */
export const updateOperator = operation({
  id: 'updateOperator',
  tag,
  method: 'put',
  path: '/operators/{id}',
  summary: 'Change roles, or disable and enable an account; it applies to the next request',
  roles: ADMINS,
  params: { id: anyId },
  body: z.strictObject({
    roles: roles.optional(),
    disabled: z.boolean().optional(),
    reason: reason.optional(),
  }),
  answer: { status: 200, data: printed },
});

/** Creates a further key for an operator. */
export const createOperatorKey = operation({
  id: 'createOperatorKey',
  tag,
  method: 'post',
  path: '/operators/{id}/keys',
  summary: 'Create a further key for an operator; the answer shows it once',
  roles: ADMINS,
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: newKey },
});

/** Revokes a key of an operator. */
export const revokeOperatorKey = operation({
  id: 'revokeOperatorKey',
  tag,
  method: 'post',
  path: '/operator-keys/{id}/revoke',
  summary: 'Revoke a key of an operator at once',
  roles: ADMINS,
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** Shows the operator who has signed in. */
export const whoAmI = operation({
  id: 'whoAmI',
  tag,
  method: 'get',
  path: '/me',
  summary: 'Show the operator who has signed in',
  roles: READERS,
  answer: { status: 200, data: printed },
});

type Parts = Pick<OperatorDeps, 'operators' | 'oidc' | 'audit'>;

/** The routes for operators. */
export const operatorAccountRoutes = (parts: Parts): Route[] => [
  route(whoAmI, (ctx) => {
    const { id, name, roles: own, keyId } = operatorOf(ctx);
    sendData(ctx, 200, { id, name, roles: own, key_id: keyId });
  }),

  route(listOperators, async (ctx) => {
    sendData(ctx, 200, (await parts.operators.list()).map(presentOperator));
  }),

  route(createOperator, async (ctx, { body: { reason: why = null, ...given } }) => {
    const act = actOf(ctx, 'operators.create', given.email, { reason: why });
    await refuseBesideIssuer(parts, act, 'The first sign-in of a person makes the account.');
    const made = await parts.audit.act(act, async (session) => {
      const createdBy = lineOf(operatorOf(ctx));
      const account = await parts.operators.create({ ...given, createdBy }, session);
      const key = await parts.operators.createKey(account.id, newKeyOf(ctx), session);
      return { result: { account, key }, before: null, after: presentOperator(account) };
    });
    if (!made) throw noSuch('operator');
    sendData(ctx, 200, { id: made.account.id, key: presentNewKey(made.key) });
  }),

  route(updateOperator, async (ctx, { params: { id }, body }) => {
    const { roles: wanted, disabled, reason: why = null } = body;
    const act = actOf(ctx, 'operators.update', id, { reason: why });
    if (id === operatorOf(ctx).id) {
      const message = 'Another administrator changes your own account.';
      throw await refused(parts, act, new ApiError('forbidden', { message }));
    }
    if (wanted) await refuseBesideIssuer(parts, act, 'It gives the roles.');
    const changes = {
      ...(wanted && { roles: wanted }),
      ...(disabled !== undefined && { disabled }),
    };
    const changed = await parts.audit.act(act, async (session) => {
      const before = await parts.operators.get(id, session);
      const after = before && (await parts.operators.update(id, changes, session));
      return (
        after && { result: after, before: presentOperator(before), after: presentOperator(after) }
      );
    });
    if (!changed) throw noSuch('operator');
    sendData(ctx, 200, presentOperator(changed));
  }),

  ...keyRoutes(parts),
];

const keyRoutes = (parts: Parts): Route[] => [
  route(createOperatorKey, async (ctx, { params: { id }, body }) => {
    const act = actOf(ctx, 'operators.keys.create', id, { reason: body.reason ?? null });
    await refuseBesideIssuer(parts, act, 'Keys are not accepted.');
    const made = await parts.audit.act(act, async (session) => {
      if (!(await parts.operators.get(id, session))) return null;
      const key = await parts.operators.createKey(id, newKeyOf(ctx), session);
      return { result: key, before: null, after: { key: key.id } };
    });
    if (!made) throw noSuch('operator');
    sendData(ctx, 200, presentNewKey(made));
  }),

  route(revokeOperatorKey, async (ctx, { params: { id }, body }) => {
    const act = actOf(ctx, 'operators.keys.revoke', id, { reason: body.reason ?? null });
    const revoked = await parts.audit.act(act, async (session) => {
      const of = await parts.operators.revokeKey(id, session);
      return of && { result: true, before: { operator: of.operatorId }, after: { revoked: true } };
    });
    if (!revoked) throw noSuch('key');
    sendData(ctx, 200, { id, revoked: true });
  }),
];

/** Where there is an issuer, it alone decides who signs in, and with which roles. */
async function refuseBesideIssuer(parts: Parts, act: Act, why: string): Promise<void> {
  const { oidc } = parts;
  if (!oidc) return;
  const message = `Operators sign in at ${oidc.issuer}. ${why}`;
  throw await refused(parts, act, new ApiError('invalid_state', { message }));
}

/** The refusal of an act, which is in the audit log, too. */
async function refused({ audit }: Parts, act: Act, error: ApiError): Promise<ApiError> {
  await audit.record(act, { after: { refused: error.message } });
  return error;
}

const newKeyOf = (ctx: Context) => ({
  expiresAt: new Date(Date.now() + KEY_DAYS * DAY_MS),
  createdBy: lineOf(operatorOf(ctx)),
});

const presentNewKey = ({
  id,
  key,
  expiresAt,
}: {
  id: string;
  key: string;
  expiresAt: Date | null;
}) => ({
  id,
  key,
  expires_at: expiresAt?.toISOString() ?? null,
});

const presentOperator = (account: OperatorAccount) => ({
  id: account.id,
  name: account.name,
  email: account.email,
  roles: account.roles,
  disabled_at: account.disabledAt?.toISOString() ?? null,
  created_at: account.createdAt.toISOString(),
  created_by: account.createdBy[0] ?? null,
});
