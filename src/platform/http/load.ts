import { ApiError, errorBody } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import type { AppContext, Middleware } from './context.js';
import { passUncounted } from './rate-limit.js';
import { sendBytes } from './respond.js';
import { withoutDeadline } from './time-limit.js';

const TICK_MS = 20;
const LOOK_EVERY_MS = 1_000;
/** Longer than one look, so that who comes back meets a decision that was made since. */
const RETRY_AFTER_SECONDS = 2;

const REFUSALS = ['event_loop', 'in_flight', 'connections'] as const;
export type Refusal = (typeof REFUSALS)[number];

export type LoadLimits = {
  /** Requests that may be worked on at once. */
  maxInFlight: number;
  /** How late the event loop may be on average, over two looks in a row: one long pause is no overload. */
  maxLagMs: number;
};

export type Load = ReturnType<typeof createLoad>;

/**
 * Refuses early what could not be served in time: past the limits every further request is answered 503 before anything
 * is read or asked for it, so that those which were let in still end. Health is asked before this.
 */
export function createLoad({
  maxInFlight,
  maxLagMs,
  log,
  lookEveryMs = LOOK_EVERY_MS,
}: LoadLimits & { log: Log; lookEveryMs?: number }) {
  const refused = Object.fromEntries(REFUSALS.map((why) => [why, 0])) as Record<Refusal, number>;
  const lag = watchLag(lookEveryMs, tell);
  let working = 0;
  let waiting = 0;
  let told = 0;

  /** One line a look, however many were refused. */
  function tell(): void {
    const all = REFUSALS.reduce((sum, why) => sum + refused[why], 0);
    if (all > told) {
      log.warn({ refused: all - told, working, lag_ms: Math.round(lag.ms()) }, 'overloaded');
    }
    told = all;
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
      // Not thrown: the error handler would write a line with a stack for each.
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
    /** Counts a connection that was refused before there was a request. */
    connectionRefused: () => void (refused.connections += 1),
    now: () => ({ working, waiting, refused }),
    stop: () => lag.stop(),
  };
}

const REFUSED = JSON.stringify(errorBody(new ApiError('service_unavailable')));

/** What a request waits for that is no work of ours, a slow client for one: it takes no place while it does. */
export function excludeFromLoad<T>(ctx: AppContext, wait: Promise<T>): Promise<T> {
  return withoutDeadline(ctx, ctx.state.excludeFromLoad?.(wait) ?? wait);
}

/**
 * How late the event loop runs on average: the better of the last two looks. Not by perf_hooks: its histogram forgets
 * the sample in hand when it is reset, which is all there is when each turn takes longer than a look.
 */
function watchLag(everyMs: number, onLook: () => void) {
  let [before, latest] = [0, 0];
  let [sum, count] = [0, 0];
  let lookedAt = performance.now();
  let last = lookedAt;
  const timer = setInterval(() => {
    const now = performance.now();
    sum += Math.max(0, now - last - TICK_MS);
    count += 1;
    last = now;
    if (now - lookedAt < everyMs) return;
    [before, latest] = [latest, sum / count];
    [sum, count] = [0, 0];
    lookedAt = now;
    onLook();
  }, TICK_MS);
  timer.unref();
  return { ms: () => Math.min(before, latest), stop: () => clearInterval(timer) };
}
