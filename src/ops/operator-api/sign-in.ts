import { randomUUID } from 'node:crypto';
import type { Act } from '../../core/audit/entry.js';
import type { Audit } from '../../core/audit/store.js';
import type { AppContext, Middleware } from '../../platform/http/context.js';
import { bearerToken } from '../../platform/http/authenticate.js';
import type { OperationAt } from '../../platform/http/routes.js';
import type { Operator } from '../../platform/operators/operator.js';
import type { Operators } from '../../platform/operators/store.js';
import { parseOperatorKey } from '../../platform/api-keys/api-key.js';
import type { Oidc } from '../../platform/operators/oidc.js';
import { ApiError, type ErrorCode } from '../../shared/errors.js';
import { accountOf, withoutRole } from './identities.js';
import { createRefusals } from './refusals.js';

type Parts = {
  operators: Operators;
  /** Null: operators sign in by keys. */
  oidc: Oidc | null;
  audit: Audit;
};

/**
 * Requires an ID token of the issuer, or an operator's key where there is no issuer, and a role that the operation names. Sets
 * the operator of the request.
 */
export function signIn({
  operationAt,
  ...parts
}: Parts & {
  operationAt: OperationAt;
}): Middleware {
  const { operators, oidc } = parts;
  const recordRefusal = createRefusals(parts.audit);
  return async (ctx, next) => {
    const token = bearerToken(ctx.req.headers.authorization);
    const onRefused = async (known: Operator, refusal: ErrorCode) => {
      ctx.state.operator = known;
      const act = actOf(ctx, operationAt(ctx)?.id ?? 'unknown', 'refused');
      await recordRefusal(act, refusal);
    };
    const operator = oidc
      ? await identifyBy(oidc, parts, { token, requestId: ctx.state.requestId, onRefused })
      : await operators.authenticate(token, onRefused);
    ctx.state.operator = operator;
    const { roles } = operationAt(ctx) ?? {};
    if (roles && !roles.some((role) => operator.roles.includes(role))) {
      const message = `This needs one of the roles: ${roles.join(', ')}.`;
      const act = actOf(ctx, operationAt(ctx)?.id ?? 'unknown', 'refused');
      await recordRefusal(act, message);
      throw new ApiError('forbidden', { message });
    }
    await next();
  };
}

/** The operator of an ID token. Keys are refused: the issuer alone says who somebody is, and no admin holds a sign-in of others. */
async function identifyBy(
  oidc: Oidc,
  parts: Parts,
  given: {
    token: string;
    requestId: string;
    onRefused: (known: Operator, refusal: ErrorCode) => Promise<void>;
  },
): Promise<Operator> {
  const { token, requestId, onRefused } = given;
  if (parseOperatorKey(token)) {
    const message = `Keys are not accepted: sign in at ${oidc.issuer} (bursar sign-in).`;
    throw new ApiError('unauthorized', { message });
  }
  const { id, name, roles, disabledAt } = await accountOf(
    parts,
    await oidc.identify(token),
    requestId,
  );
  const operator = { id, name, roles, keyId: null, madeBy: [] };
  if (disabledAt === null && roles.length > 0) return operator;
  if (disabledAt === null) {
    await onRefused(operator, 'forbidden');
    throw withoutRole();
  }
  await onRefused(operator, 'unauthorized');
  throw new ApiError('unauthorized', { message: 'An administrator has disabled your account.' });
}

/** The operator of a request. Throws on a route without sign-in, which is a programming error. */
export function operatorOf(ctx: AppContext): Operator {
  if (ctx.state.operator === undefined) throw new Error('this route is not behind the sign-in');
  return ctx.state.operator;
}

/** The act of this request, for the audit log. The actor comes from the sign-in. */
export function actOf(
  ctx: AppContext,
  action: string,
  target: string,
  { tenantId = null, reason = null }: Partial<Pick<Act, 'tenantId' | 'reason'>> = {},
): Act {
  const { id, name, roles } = operatorOf(ctx);
  return {
    id: randomUUID(),
    actor: { operator: id, name, roles },
    action,
    target,
    tenantId,
    reason,
    requestId: ctx.state.requestId,
    approval: ctx.state.approval ?? null,
  };
}
