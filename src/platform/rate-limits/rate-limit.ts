/** The window of the published limits, and its name in a 429. */
export const WINDOW_MS = 60_000;
export const WINDOW_NAME = '1m';

/** What a window allows: `rate` in the long run, `burst` after a window that stayed within the rate. */
export type Allowance = { rate: number; burst: number };

/** One attempt as the shared counter saw it. All times are the counter's own. */
export type Attempt = {
  /** 1 for the first attempt of the window. Refused attempts count too. */
  position: number;
  /** Attempts in the window before. */
  previous: number;
  windowStartMs: number;
  nowMs: number;
};

export type RateLimit = {
  allowed: boolean;
  /** What the present window allows. */
  limit: number;
  remaining: number;
  /** Unix seconds at which the next window begins. */
  resetAt: number;
  retryAfterSeconds: number;
};

/**
 * Whether an attempt passes. Because the refused ones count, a caller that keeps knocking above its rate gets the rate
 * and no more: a burst is earned by a window that stayed within it.
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

/** The answer when the counter is silent: the request passes, and the headers promise no more than the rate. */
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

/** Whole seconds, at least one: `Retry-After: 0` would be an invitation to hammer. */
export function secondsUntil(endMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endMs - nowMs) / 1000));
}
