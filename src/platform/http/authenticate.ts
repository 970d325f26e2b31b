import type { ApiKeys } from '../api-keys/store.js';
import { scopeOf, type KeyScope } from '../api-keys/scopes.js';
import { ApiError } from '../../shared/errors.js';
import type { ProviderCapability } from '../../shared/provider-settings.js';
import { callerOf, type AppContext, type Middleware } from './context.js';
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
 * Checks the rights of the key: `read` keys may GET, public keys reach only operations for them, admin operations require an
 * admin key, and a key with scopes reaches the operations of these. It stands before the tenant's limit, so that a key without
 * rights uses up nothing of the tenant's window; its refusals count by address.
 */
export function authorize({ operationAt }: { operationAt: OperationAt }): Middleware {
  return (ctx, next) => {
    const { kind, level, scopes } = callerOf(ctx);
    const operation = operationAt(ctx);
    if (level === 'read' && !reads(ctx)) throw new ApiError('forbidden');
    if (kind === 'public' && operation?.access !== 'public_key') throw new ApiError('forbidden');
    if (operation?.access === 'admin' && level !== 'admin') throw new ApiError('forbidden');
    if (scopes && operation && !includes(scopes, scopeOf(operation))) throw outOfScope();
    return next();
  };
}

/**
 * Checks that the tenant may do what its key has the right to: it is not frozen, has the feature, and a provider of this
 * deployment serves it.
 */
export function requireFeatures({
  operationAt,
  serves,
}: {
  operationAt: OperationAt;
  /** Tells whether a provider serves the capability. */
  serves: (capability: ProviderCapability) => boolean;
}): Middleware {
  return (ctx, next) => {
    const { tenant } = callerOf(ctx);
    const { feature, servedBy, onlyProtects } = operationAt(ctx) ?? {};
    if (tenant.frozenAt !== null && !reads(ctx) && !onlyProtects) {
      throw new ApiError('forbidden', {
        message: 'This account is frozen: nothing new is accepted.',
      });
    }
    if (feature && !tenant.features[feature]) throw new ApiError('feature_not_enabled');
    if (servedBy && !serves(servedBy)) throw new ApiError('feature_not_enabled');
    return next();
  };
}

const reads = ({ method }: AppContext) => method === 'GET' || method === 'HEAD';

const includes = (scopes: readonly KeyScope[], scope: KeyScope | null) =>
  scope !== null && scopes.includes(scope);

const outOfScope = () =>
  new ApiError('forbidden', { message: 'The scopes of this key do not include this operation.' });

/** The token of the header `Authorization: Bearer …`. Throws `unauthorized` without one. */
export function bearerToken(header: string | undefined): string {
  const token = findBearerToken(header);
  if (token === null) throw new ApiError('unauthorized');
  return token;
}

/** The same token, or null without one. */
export const findBearerToken = (header: string | undefined): string | null =>
  /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
