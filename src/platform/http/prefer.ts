import type { AppContext } from './context.js';

/** A client that wants to wait longer asks again: connections are no place to keep a promise in. */
export const MAX_WAIT_SECONDS = 30;

/** What a POST waits for, at most so long; `signal` says that nobody listens any more. */
export type Wait = { ms: number; signal: AbortSignal };

/**
 * The seconds that `Prefer: wait=N` (RFC 7240) asks to wait, at most 30; null where it does not, or not readably: a
 * preference that can't be read is as if it were not there. The first of several counts.
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

/** Aborted when the client has gone, or has its answer. */
export function untilClosed(ctx: AppContext): AbortSignal {
  const gone = new AbortController();
  if (ctx.res.closed) gone.abort();
  ctx.res.once('close', () => gone.abort());
  return gone.signal;
}
