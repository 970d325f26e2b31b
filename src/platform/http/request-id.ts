import { newId } from '../../shared/ids.js';
import type { Middleware } from './context.js';

/** Secrets and numbers that callers put into the wrong field: keys, and numbers of accounts, people and cards. */
const PRIVATE =
  /[sp]k_(?:sandbox|live)_|whsec_|(?<![0-9A-Za-z])(?:[0-9]{10,11}|[0-9]{16})(?![0-9A-Za-z])/;

/**
 * Gives every request an id, which its answer has in `X-Request-Id`. A caller's own id is kept if it is safe in a log
 * and a header; otherwise the service generates one.
 */
export function requestId(): Middleware {
  return (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    const isKept =
      typeof given === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(given) && !PRIVATE.test(given);
    const id = isKept ? given : newId('request');
    ctx.state.requestId = id;
    ctx.res.setHeader('X-Request-Id', id);
    return next();
  };
}
