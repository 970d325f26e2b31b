import type { AppContext } from './context.js';

/** Upper bound of `Prefer: wait`. A client that wants to wait longer repeats the request. */
export const MAX_WAIT_SECONDS = 30;

/** A bounded wait of a POST. `signal` aborts when the client has disconnected. */
export type Wait = { ms: number; signal: AbortSignal };

/**
 * The seconds of `Prefer: wait=N` (RFC 7240), at most 30, or null if there is none. A malformed preference counts as
 * absent; the first of several counts.
 */
export function readWait(header: string): number | null {
  for (const preference of header.match(/(?:[^,"]|"(?:\\.|[^"\\])*")+/g) ?? []) {
    const found = /^\s*wait\s*(?:=\s*([^;]*?)\s*)?(?:;|$)/i.exec(preference);
    if (!found) continue;
    const seconds = /^(?:([0-9]{1,9})|"([0-9]{1,9})")$/.exec(found[1] ?? '');
    return seconds ? Math.min(Number(seconds[1] ?? seconds[2]), MAX_WAIT_SECONDS) : null;
  }
  return null;
}

/** A signal that aborts when the client has disconnected or has its answer. */
export function untilClosed(ctx: AppContext): AbortSignal {
  const gone = new AbortController();
  if (ctx.res.closed) gone.abort();
  ctx.res.once('close', () => gone.abort());
  return gone.signal;
}
