import { z } from 'zod';
import type { Context } from '../../platform/http/context.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
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

/** The routes for operators. */
export const operatorAccountRoutes = ({ operators, oidc, audit }: OperatorDeps): Route[] => [
  route(whoAmI, (ctx) => {
    const { id, name, roles: own, keyId } = operatorOf(ctx);
    sendData(ctx, 200, { id, name, roles: own, key_id: keyId });
  }),

  route(listOperators, async (ctx) => {
    sendData(ctx, 200, (await operators.list()).map(presentOperator));
  }),

  route(createOperator, async (ctx, { body: { reason: why = null, ...given } }) => {
    refuseBesideIssuer(oidc, 'The first sign-in of a person makes the account.');
    const act = actOf(ctx, 'operators.create', given.email, { reason: why });
    const made = await audit.act(act, async (session) => {
      const createdBy = lineOf(operatorOf(ctx));
      const account = await operators.create({ ...given, createdBy }, session);
      const key = await operators.createKey(account.id, newKeyOf(ctx), session);
      return { result: { account, key }, before: null, after: presentOperator(account) };
    });
    if (!made) throw noSuch('operator');
    sendData(ctx, 200, { id: made.account.id, key: presentNewKey(made.key) });
  }),

  route(updateOperator, async (ctx, { params: { id }, body }) => {
    const { roles: wanted, disabled, reason: why = null } = body;
    if (id === operatorOf(ctx).id) {
      const message = 'Another administrator changes your own account.';
      throw new ApiError('forbidden', { message });
    }
    if (wanted) refuseBesideIssuer(oidc, 'It gives the roles.');
    const changes = {
      ...(wanted && { roles: wanted }),
      ...(disabled !== undefined && { disabled }),
    };
    const changed = await audit.act(
      actOf(ctx, 'operators.update', id, { reason: why }),
      async (session) => {
        const before = await operators.get(id, session);
        const after = before && (await operators.update(id, changes, session));
        return (
          after && {
            result: after,
            before: presentOperator(before),
            after: presentOperator(after),
          }
        );
      },
    );
    if (!changed) throw noSuch('operator');
    sendData(ctx, 200, presentOperator(changed));
  }),

  ...keyRoutes({ operators, oidc, audit }),
];

const keyRoutes = ({
  operators,
  oidc,
  audit,
}: Pick<OperatorDeps, 'operators' | 'oidc' | 'audit'>): Route[] => [
  route(createOperatorKey, async (ctx, { params: { id }, body }) => {
    refuseBesideIssuer(oidc, 'Keys are not accepted.');
    const act = actOf(ctx, 'operators.keys.create', id, { reason: body.reason ?? null });
    const made = await audit.act(act, async (session) => {
      if (!(await operators.get(id, session))) return null;
      const key = await operators.createKey(id, newKeyOf(ctx), session);
      return { result: key, before: null, after: { key: key.id } };
    });
    if (!made) throw noSuch('operator');
    sendData(ctx, 200, presentNewKey(made));
  }),

  route(revokeOperatorKey, async (ctx, { params: { id }, body }) => {
    const act = actOf(ctx, 'operators.keys.revoke', id, { reason: body.reason ?? null });
    const revoked = await audit.act(act, async (session) => {
      const of = await operators.revokeKey(id, session);
      return of && { result: true, before: { operator: of.operatorId }, after: { revoked: true } };
    });
    if (!revoked) throw noSuch('key');
    sendData(ctx, 200, { id, revoked: true });
  }),
];

/** Where there is an issuer, it alone decides who signs in, and with which roles. */
function refuseBesideIssuer(oidc: OperatorDeps['oidc'], why: string): void {
  if (!oidc) return;
  throw new ApiError('invalid_state', { message: `Operators sign in at ${oidc.issuer}. ${why}` });
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
