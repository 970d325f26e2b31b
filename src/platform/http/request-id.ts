import { newId } from '../../shared/ids.js';
import type { Middleware } from './context.js';

/** What somebody pasted into the wrong field: a key or secret, or the number of an account, a person or a card. */
const PRIVATE =
  /[sp]k_(?:sandbox|live)_|whsec_|(?<![0-9A-Za-z])(?:[0-9]{10,11}|[0-9]{16})(?![0-9A-Za-z])/;

/**
 * Every answer names its request in `X-Request-Id`. A caller's own id is kept if it is harmless in a log and a header;
 * anything else gets an id of ours.
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
