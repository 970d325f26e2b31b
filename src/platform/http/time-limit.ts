import type { WriteProbe } from '../database/write-probe.js';
import { ApiError, OUTCOME_UNKNOWN } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import type { AppContext, Middleware } from './context.js';
import { passUncounted } from './rate-limit.js';

/** Clients get an answer within 5 s even if the database is away. The remaining second is for slow machines. */
const ANSWER_WITHIN_MS = 4_000;
/** Time after which the database is probed. */
const DOUBT_AFTER_MS = 1_500;
const CHECK_EVERY_MS = 250;

/** Overrides of the two times, for tests. */
export type TimeLimits = { doubtAfterMs?: number; answerWithinMs?: number };

/**
 * Answers 503 when a request hangs because the database is frozen or unreachable. A request that is only slow is not
 * cut off: the client would repeat it, and an overloaded machine would never finish anything. The work may still
 * complete, so the answer says that the outcome is unknown; a repeat with the same key returns it.
 */
export function timeLimit({
  log,
  writeProbe,
  doubtAfterMs = DOUBT_AFTER_MS,
  answerWithinMs = ANSWER_WITHIN_MS,
}: {
  log: Log;
  writeProbe: WriteProbe;
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

/** Waits for a provider or for the client without using up the request's time. */
export function withoutDeadline<T>(ctx: AppContext, wait: Promise<T>): Promise<T> {
  return ctx.state.withoutDeadline?.(wait) ?? wait;
}

/** The function that pauses the request's deadline, for code that does not get the context. */
export const deadlineOf = ({ state }: AppContext) =>
  state.withoutDeadline ? { withoutDeadline: state.withoutDeadline } : {};

/** Throws if the request has its answer already, so that no new work begins for it. */
export function refuseLate(ctx: AppContext): void {
  if (ctx.headerSent) throw new ApiError('service_unavailable');
}

/** Calls `isOver` repeatedly with the counted time, once that time exceeds `afterMs`. Most requests end before. */
function startClock(afterMs: number, isOver: (ms: number) => boolean) {
  const startedAt = performance.now();
  let waits = 0;
  let stoppedAt = 0;
  let stoppedMs = 0;
  let timer: NodeJS.Timeout;

  const over = new Promise<true>((resolve) => {
    function check(): void {
      const ms = (waits > 0 ? stoppedAt : performance.now()) - startedAt - stoppedMs;
      if (waits === 0 && ms >= afterMs && isOver(ms)) resolve(true);
      else timer = setTimeout(check, CHECK_EVERY_MS);
    }
    timer = setTimeout(check, afterMs);
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
