import { ApiError, errorBody } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import type { AppContext, Middleware } from './context.js';
import { passUncounted } from './rate-limit.js';
import { sendBytes } from './respond.js';
import { withoutDeadline } from './time-limit.js';

const TICK_MS = 20;
const MEASURE_EVERY_MS = 1_000;
/** Longer than one measuring interval, so that a client that comes back meets a newer decision. */
const RETRY_AFTER_SECONDS = 2;

const REFUSALS = ['event_loop', 'in_flight', 'connections'] as const;
/** The reason why a request or a connection was refused. */
export type Refusal = (typeof REFUSALS)[number];

/** The limits above which requests are refused. */
export type LoadLimits = {
  /** Requests that may be in progress at once. */
  maxInFlight: number;
  /** Average delay of the event loop, exceeded in two measuring intervals in a row: one long pause is not overload. */
  maxLagMs: number;
};

/** The load of this process, and the middleware that limits it. */
export type Load = ReturnType<typeof createLoad>;

/**
 * Refuses early what could not be served in time. Above the limits, every further request gets 503 before any work is
 * done for it, so that accepted requests still finish. Health checks run before this.
 */
export function createLoad({
  maxInFlight,
  maxLagMs,
  log,
  measureEveryMs = MEASURE_EVERY_MS,
}: LoadLimits & { log: Log; measureEveryMs?: number }) {
  const refused = Object.fromEntries(REFUSALS.map((why) => [why, 0])) as Record<Refusal, number>;
  const lag = measureLag(measureEveryMs, logRefusals);
  let working = 0;
  let waiting = 0;
  let loggedRefusals = 0;

  /** Writes at most one line in an interval, however many requests were refused. */
  function logRefusals(): void {
    const all = REFUSALS.reduce((sum, why) => sum + refused[why], 0);
    if (all > loggedRefusals) {
      log.warn(
        { refused: all - loggedRefusals, working, lag_ms: Math.round(lag.ms()) },
        'overloaded',
      );
    }
    loggedRefusals = all;
  }

  function reasonToRefuse(): Refusal | null {
    if (lag.ms() >= maxLagMs) return 'event_loop';
    return working >= maxInFlight ? 'in_flight' : null;
  }

  const middleware: Middleware = async (ctx, next) => {
    const reason = reasonToRefuse();
    if (reason !== null) {
      refused[reason] += 1;
      passUncounted(ctx);
      ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
      // Not thrown: the error handler would log a stack for each refusal.
      return sendBytes(ctx, 503, REFUSED);
    }
    working += 1;
    ctx.state.excludeFromLoad = excludeFromLoad;
    try {
      await next();
    } finally {
      working -= 1;
    }
  };

  async function excludeFromLoad<T>(wait: Promise<T>): Promise<T> {
    working -= 1;
    waiting += 1;
    try {
      return await wait;
    } finally {
      working += 1;
      waiting -= 1;
    }
  }

  return {
    middleware,
    /** Counts a connection that was refused before its first request. */
    connectionRefused: () => void (refused.connections += 1),
    now: () => ({ working, waiting, refused }),
    stop: () => lag.stop(),
  };
}

const REFUSED = JSON.stringify(errorBody(new ApiError('service_unavailable')));

/** Waits without taking a place among the requests in progress, for a slow client for example. */
export function excludeFromLoad<T>(ctx: AppContext, wait: Promise<T>): Promise<T> {
  return withoutDeadline(ctx, ctx.state.excludeFromLoad?.(wait) ?? wait);
}

/**
 * Measures the average delay of the event loop and reports the better of the last two intervals. perf_hooks does not
 * serve: its histogram drops the current sample when it is reset, and that is the only sample when each turn takes
 * longer than an interval.
 */
function measureLag(everyMs: number, onInterval: () => void) {
  let [before, latest] = [0, 0];
  let [sum, count] = [0, 0];
  let intervalStartedAt = performance.now();
  let last = intervalStartedAt;
  const timer = setInterval(() => {
    const now = performance.now();
    sum += Math.max(0, now - last - TICK_MS);
    count += 1;
    last = now;
    if (now - intervalStartedAt < everyMs) return;
    [before, latest] = [latest, sum / count];
    [sum, count] = [0, 0];
    intervalStartedAt = now;
    onInterval();
  }, TICK_MS);
  timer.unref();
  return { ms: () => Math.min(before, latest), stop: () => clearInterval(timer) };
}
