import type { KeyLevel } from '../api-keys/api-key.js';
import type { ApiKeys } from '../api-keys/store.js';
import { ApiError } from '../errors.js';
import { callerOf, type AppRouter, type Middleware } from './context.js';

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
 * What every key may do at most: `read` keys GET, and public keys only the routes that opted in by `acceptPublicKeys`.
 * A route that needs more than `write` says so itself, by `requireLevel`.
 */
export function authorize({ api }: { api: AppRouter }): Middleware {
  return (ctx, next) => {
    const { kind, level } = callerOf(ctx);
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (level === 'read' && !reads) throw new ApiError('forbidden');
    if (kind === 'public' && !acceptsPublicKeys(api, ctx.method, ctx.path)) {
      throw new ApiError('forbidden');
    }
    return next();
  };
}

/** In a route's sentence: keys of a lower level are refused. */
export function requireLevel(level: KeyLevel): Middleware {
  return (ctx, next) => {
    if (RANK[callerOf(ctx).level] < RANK[level]) throw new ApiError('forbidden');
    return next();
  };
}

/** In a route's sentence: public keys may use it. Everything else is closed to them. */
export const acceptPublicKeys: Middleware = (_ctx, next) => next();

const RANK = { read: 0, write: 1, admin: 2 } as const;

/** Looks at the route that would run, and not only at whether some route of that path accepts. */
function acceptsPublicKeys(api: AppRouter, method: string, path: string): boolean {
  const route = api.match(path, method).pathAndMethod.find((layer) => layer.methods.length > 0);
  const sentence: readonly unknown[] = route?.stack ?? [];
  return sentence.includes(acceptPublicKeys);
}

function bearerToken(header: string | undefined): string {
  const match = /^Bearer +(\S+) *$/i.exec(header ?? '');
  if (match?.[1] === undefined) throw new ApiError('unauthorized');
  return match[1];
}
