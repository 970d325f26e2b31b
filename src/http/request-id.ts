import { newId } from '../ids.js';
import type { Middleware } from './context.js';

/**
 * Every answer names its request in `X-Request-Id`. A caller's own id is kept if it is harmless in a log and a header;
 * anything else gets an id of ours.
 */
export function requestId(): Middleware {
  return (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    const id =
      typeof given === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(given) ? given : newId('request');
    ctx.state.requestId = id;
    ctx.res.setHeader('X-Request-Id', id);
    return next();
  };
}
