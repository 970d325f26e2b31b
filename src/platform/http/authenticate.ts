import type { ApiKeys } from '../api-keys/store.js';
import { ApiError } from '../../shared/errors.js';
import type { ProviderCapability } from '../../shared/provider-settings.js';
import { callerOf, type Middleware } from './context.js';
import type { OperationAt } from './routes.js';

/**
 * Requires a valid API key and sets `ctx.state.key`; see `callerOf`. Answers to keys that should be rotated have the
 * header `X-Key-Rotation-Due`.
 */
export function authenticate({ apiKeys }: { apiKeys: Pick<ApiKeys, 'authenticate'> }): Middleware {
  return async (ctx, next) => {
    const token = bearerToken(ctx.req.headers.authorization);
    const key = await apiKeys.authenticate(token, ctx.state.address, (found) => {
      ctx.state.foundKey = found;
    });
    ctx.state.key = key;
    if (key.rotationDue) ctx.set('X-Key-Rotation-Due', 'true');
    await next();
  };
}

/**
 * Checks the rights of the key: `read` keys may GET, public keys reach only operations for them, and admin operations
 * require an admin key. The tenant's features and the deployment's providers are checked last, so that a key without
 * rights learns nothing about them.
 */
export function authorize({
  operationAt,
  serves,
}: {
  operationAt: OperationAt;
  /** Tells whether a provider serves the capability. */
  serves: (capability: ProviderCapability) => boolean;
}): Middleware {
  return (ctx, next) => {
    const { kind, level, tenant } = callerOf(ctx);
    const { access, feature, servedBy, whileFrozen } = operationAt(ctx) ?? {};
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (level === 'read' && !reads) throw new ApiError('forbidden');
    if (kind === 'public' && access !== 'public_key') throw new ApiError('forbidden');
    if (access === 'admin' && level !== 'admin') throw new ApiError('forbidden');
    if (tenant.frozenAt !== null && !reads && !whileFrozen) {
      throw new ApiError('forbidden', {
        message: 'This account is frozen: nothing new is accepted.',
      });
    }
    if (feature && !tenant.features[feature]) throw new ApiError('feature_not_enabled');
    if (servedBy && !serves(servedBy)) throw new ApiError('feature_not_enabled');
    return next();
  };
}

/** The token of the header `Authorization: Bearer …`. Throws `unauthorized` without one. */
export function bearerToken(header: string | undefined): string {
  const token = findBearerToken(header);
  if (token === null) throw new ApiError('unauthorized');
  return token;
}

/** The same token, or null without one. */
export const findBearerToken = (header: string | undefined): string | null =>
  /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
