import type { ApiKeys } from '../api-keys/store.js';
import { ApiError } from '../../shared/errors.js';
import { callerOf, type Middleware } from './context.js';
import type { OperationAt } from './routes.js';

/** Every request behind this has a caller: `ctx.state.key`, or see `callerOf`. Keys due for rotation are told so. */
export function authenticate({ apiKeys }: { apiKeys: Pick<ApiKeys, 'authenticate'> }): Middleware {
  return async (ctx, next) => {
    const token = bearerToken(ctx.req.headers.authorization);
    const key = await apiKeys.authenticate(token, ctx.state.address);
    ctx.state.key = key;
    if (key.rotationDue) ctx.set('X-Key-Rotation-Due', 'true');
    await next();
  };
}

/**
 * What a key may do: `read` keys GET, public keys only what is open to them, and nobody less than an admin what asks
 * for one. A tenant's features are asked for last: a key that may do nothing learns nothing of them.
 */
export function authorize({ operationAt }: { operationAt: OperationAt }): Middleware {
  return (ctx, next) => {
    const { kind, level, tenant } = callerOf(ctx);
    const { access, feature } = operationAt(ctx) ?? {};
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (level === 'read' && !reads) throw new ApiError('forbidden');
    if (kind === 'public' && access !== 'public_key') throw new ApiError('forbidden');
    if (access === 'admin' && level !== 'admin') throw new ApiError('forbidden');
    if (feature && !tenant.features[feature]) throw new ApiError('feature_not_enabled');
    return next();
  };
}

function bearerToken(header: string | undefined): string {
  const match = /^Bearer +(\S+) *$/i.exec(header ?? '');
  if (match?.[1] === undefined) throw new ApiError('unauthorized');
  return match[1];
}
