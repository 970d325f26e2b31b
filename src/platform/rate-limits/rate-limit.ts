/** The window of the published limits. */
export const WINDOW_MS = 60_000;
/** The name of the window in the details of a 429. */
export const WINDOW_NAME = '1m';

/** The allowance of a window: `rate` in the long run, `burst` after a window that stayed within the rate. */
export type Allowance = { rate: number; burst: number };

/** One attempt as the shared counter recorded it. All times are the counter's. */
export type Attempt = {
  /** 1 for the first attempt of the window. Refused attempts count too. */
  position: number;
  /** Attempts in the window before. */
  previous: number;
  windowStartMs: number;
  nowMs: number;
};

/** The result of an attempt, with the figures for the rate-limit headers. */
export type RateLimit = {
  allowed: boolean;
  /** Attempts that the current window allows. */
  limit: number;
  remaining: number;
  /** Unix seconds at which the next window begins. */
  resetAt: number;
  retryAfterSeconds: number;
};

/**
 * Decides whether an attempt passes. Refused attempts count too, so a caller that stays above its rate gets the rate
 * only: a burst requires a preceding window within the rate.
 */
export function evaluateWindow(attempt: Attempt, allowance: Allowance): RateLimit {
  const limit = attempt.previous <= allowance.rate ? allowance.burst : allowance.rate;
  const endMs = attempt.windowStartMs + WINDOW_MS;
  return {
    allowed: attempt.position <= limit,
    limit,
    remaining: Math.max(0, limit - attempt.position),
    resetAt: Math.ceil(endMs / 1000),
    retryAfterSeconds: secondsUntil(endMs, attempt.nowMs),
  };
}

/**
 * The result that is used when the counter does not answer: the request passes, and the headers state the rate without
 * a burst.
 */
export function assumedWindow(allowance: Allowance, nowMs: number): RateLimit {
  const endMs = (Math.floor(nowMs / WINDOW_MS) + 1) * WINDOW_MS;
  return {
    allowed: true,
    limit: allowance.rate,
    remaining: allowance.rate,
    resetAt: Math.ceil(endMs / 1000),
    retryAfterSeconds: secondsUntil(endMs, nowMs),
  };
}

/** Whole seconds, at least one: `Retry-After: 0` would invite clients to retry at once. */
export function secondsUntil(endMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endMs - nowMs) / 1000));
}
