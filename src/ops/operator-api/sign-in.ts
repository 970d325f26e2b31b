import { randomUUID } from 'node:crypto';
import type { Act } from '../../core/audit/entry.js';
import type { Audit } from '../../core/audit/store.js';
import type { AppContext, Middleware } from '../../platform/http/context.js';
import { bearerToken } from '../../platform/http/authenticate.js';
import type { OperationAt } from '../../platform/http/routes.js';
import type { Operator } from '../../platform/operators/operator.js';
import type { Operators } from '../../platform/operators/store.js';
import { ApiError } from '../../shared/errors.js';

/** Requires an operator's key, and a role that the operation names. Sets the operator of the request. */
export function signIn({
  operators,
  audit,
  operationAt,
}: {
  operators: Pick<Operators, 'authenticate'>;
  audit: Pick<Audit, 'record'>;
  operationAt: OperationAt;
}): Middleware {
  return async (ctx, next) => {
    const token = bearerToken(ctx.req.headers.authorization);
    const operator = await operators.authenticate(token, async (known, refusal) => {
      ctx.state.operator = known;
      const act = actOf(ctx, operationAt(ctx)?.id ?? 'unknown', 'refused');
      await audit.record(act, { after: { refused: refusal } });
    });
    ctx.state.operator = operator;
    const { roles } = operationAt(ctx) ?? {};
    if (roles && !roles.some((role) => operator.roles.includes(role))) {
      const message = `This needs one of the roles: ${roles.join(', ')}.`;
      const act = actOf(ctx, operationAt(ctx)?.id ?? 'unknown', 'refused');
      await audit.record(act, { after: { refused: message } });
      throw new ApiError('forbidden', { message });
    }
    await next();
  };
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
