import { ApiError, OUTCOME_UNKNOWN } from '../errors.js';
import type { Log } from '../log.js';
import type { AppContext, Middleware } from './context.js';
import { passUncounted } from './rate-limit.js';

/** A client is answered within 5 s whatever hangs; this leaves the rest of them for a slow network or machine. */
const ANSWER_WITHIN_MS = 4_000;
/** How soon a clock that was stopped for a while is looked at again, at the earliest. */
const LOOK_AGAIN_MS = 50;

/**
 * Answers 503 when a request takes too long: its database is frozen or out of reach, as a rule, and says nothing. What is
 * under way for it may still happen, so the answer says that the outcome is unknown: a repeat with the same key finds it.
 */
export function timeLimit({
  log,
  withinMs = ANSWER_WITHIN_MS,
}: {
  log: Log;
  withinMs?: number;
}): Middleware {
  return async (ctx, next) => {
    const clock = startClock(withinMs);
    ctx.state.untimed = clock.untimed;
    const work = next();
    const isOver = await Promise.race([work.then(() => false), clock.isOver]).finally(clock.stop);
    if (!isOver) return;
    work.catch((error: unknown) => {
      log.warn({ request_id: ctx.state.requestId, err: error }, 'failed after its answer');
    });
    if (ctx.res.getHeader('X-RateLimit-Limit') === undefined) passUncounted(ctx);
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    throw new ApiError('service_unavailable', reads ? {} : { message: OUTCOME_UNKNOWN });
  };
}

export type Untimed = <T>(wait: Promise<T>) => Promise<T>;

/** What a request waits for at a provider, or for its client: that time does not count. */
export function untimed<T>(ctx: AppContext, wait: Promise<T>): Promise<T> {
  return ctx.state.untimed?.(wait) ?? wait;
}

/** Nothing is begun any more for a request that has its answer. */
export function refuseLate(ctx: AppContext): void {
  if (ctx.headerSent) throw new ApiError('service_unavailable');
}

/** One timer for most: it is only set again for those whose clock has been stopped meanwhile. */
function startClock(withinMs: number) {
  const startedAt = performance.now();
  let waits = 0;
  let stoppedAt = 0;
  let stoppedMs = 0;
  let timer: NodeJS.Timeout;

  const isOver = new Promise<true>((resolve) => {
    function look(): void {
      const until = waits > 0 ? stoppedAt : performance.now();
      const leftMs = withinMs - (until - startedAt - stoppedMs);
      if (leftMs <= 0) resolve(true);
      else timer = setTimeout(look, Math.max(leftMs, LOOK_AGAIN_MS));
    }
    // A timer may be early by a part of a millisecond.
    timer = setTimeout(look, withinMs + 1);
  });

  return {
    isOver,
    stop: () => clearTimeout(timer),
    async untimed<T>(wait: Promise<T>): Promise<T> {
      if (waits === 0) stoppedAt = performance.now();
      waits += 1;
      try {
        return await wait;
      } finally {
        waits -= 1;
        if (waits === 0) stoppedMs += performance.now() - stoppedAt;
      }
    },
  };
}
