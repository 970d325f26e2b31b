import type { WriteProbe } from '../database/write-probe.js';
import { ApiError, OUTCOME_UNKNOWN } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import type { AppContext, Middleware } from './context.js';
import { passUncounted } from './rate-limit.js';

/** A client is answered within 5 s though the database is away; this leaves the rest of them for a slow machine. */
const ANSWER_WITHIN_MS = 4_000;
/** From then on it is asked whether the database is there at all. */
const DOUBT_AFTER_MS = 1_500;
const LOOK_EVERY_MS = 250;

export type TimeLimits = { doubtAfterMs?: number; answerWithinMs?: number };

/**
 * Answers 503 when a request hangs because the database is frozen or out of reach. One that is only slow is waited for:
 * what is cut off comes again, and a machine with too much to do would never get anything done. What is under way may
 * still happen, so the answer says that the outcome is unknown: a repeat with the same key finds it.
 */
export function timeLimit({
  log,
  pulse: writeProbe,
  doubtAfterMs = DOUBT_AFTER_MS,
  answerWithinMs = ANSWER_WITHIN_MS,
}: {
  log: Log;
  pulse: WriteProbe;
} & TimeLimits): Middleware {
  return async (ctx, next) => {
    const clock = startClock(doubtAfterMs, (ms) => {
      writeProbe.probe();
      return ms >= answerWithinMs && writeProbe.isUnresponsive();
    });
    ctx.state.withoutDeadline = clock.withoutDeadline;
    const work = next();
    const isOver = await Promise.race([work.then(() => false), clock.isOver]).finally(clock.stop);
    if (!isOver) return;
    work.catch((error: unknown) => {
      log.info({ request_id: ctx.state.requestId, err: error }, 'request failed after response');
    });
    if (ctx.res.getHeader('X-RateLimit-Limit') === undefined) passUncounted(ctx);
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    throw new ApiError('service_unavailable', reads ? {} : { message: OUTCOME_UNKNOWN });
  };
}

/** What a request waits for at a provider, or for its client: that time does not count. */
export function withoutDeadline<T>(ctx: AppContext, wait: Promise<T>): Promise<T> {
  return ctx.state.withoutDeadline?.(wait) ?? wait;
}

/** Nothing is begun any more for a request that has its answer. */
export function refuseLate(ctx: AppContext): void {
  if (ctx.headerSent) throw new ApiError('service_unavailable');
}

/** Asks `isOver` again and again, with the time that counts, once that is `afterMs`. Most requests end before. */
function startClock(afterMs: number, isOver: (ms: number) => boolean) {
  const startedAt = performance.now();
  let waits = 0;
  let stoppedAt = 0;
  let stoppedMs = 0;
  let timer: NodeJS.Timeout;

  const over = new Promise<true>((resolve) => {
    function look(): void {
      const ms = (waits > 0 ? stoppedAt : performance.now()) - startedAt - stoppedMs;
      if (waits === 0 && ms >= afterMs && isOver(ms)) resolve(true);
      else timer = setTimeout(look, LOOK_EVERY_MS);
    }
    timer = setTimeout(look, afterMs);
  });

  return {
    isOver: over,
    stop: () => clearTimeout(timer),
    withoutDeadline: async <T>(wait: Promise<T>): Promise<T> => {
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
