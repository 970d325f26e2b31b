import { newId } from '../../shared/ids.js';
import type { Middleware } from './context.js';

/**
 * Secrets and numbers that callers put into the wrong field: keys, and ten or more digits, grouped or not. Numbers of accounts,
 * people, telephones and cards all have as many.
 */
const PRIVATE = /[sp]k_(?:sandbox|live)_|whsec_|(?:[0-9][_-]*){10}/;
/** UUIDs, trace ids and digests. Many of them have ten digits in a row by chance. */
const HEXADECIMAL =
  /(?<![0-9A-Za-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?![0-9A-Za-z])/gi;

/**
 * Gives every request an id, which its answer has in `X-Request-Id`. A caller's own id is kept if it is safe in a log
 * and a header; otherwise the service generates one.
 */
export function requestId(): Middleware {
  return (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    const id = typeof given === 'string' && isSafe(given) ? given : newId('request');
    ctx.state.requestId = id;
    ctx.res.setHeader('X-Request-Id', id);
    return next();
  };
}

/** True for an id that may be logged, stored with a record and returned. */
const isSafe = (id: string) =>
  /^[A-Za-z0-9_-]{1,64}$/.test(id) && !PRIVATE.test(withoutHexadecimal(id));

const withoutHexadecimal = (id: string) =>
  id.replaceAll(HEXADECIMAL, (found) => (/[a-f]/i.test(found) ? ' ' : found));
