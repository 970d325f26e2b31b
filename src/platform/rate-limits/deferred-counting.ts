import { LRUCache } from 'lru-cache';
import {
  evaluateWindow,
  secondsUntil,
  WINDOW_MS,
  type Allowance,
  type Attempt,
  type RateLimit,
} from './rate-limit.js';

/** Bound on the subjects whose window is cached. A subject that was evicted is counted first again. */
const MAX_SUBJECTS = 10_000;
/**
 * The share of a window's allowance that a process may let pass uncounted at any moment. For each further process, the
 * total may exceed the allowance by this share. It is zero for small plans, which stay exact.
 */
const MAX_UNCOUNTED = 1 / 1_000;
/** The share of the allowance that must remain. */
const HEADROOM = 1 / 2;
/** Deferred attempts are counted together after this time. */
export const COUNT_AFTER_MS = 50;
/** No attempt is deferred this close to the end of a window: its count would fall into the next window. */
const MARGIN_MS = COUNT_AFTER_MS + 100;

type Entry = {
  allowance: Allowance;
  /** The window after the last count. */
  lastCount: RateLimit;
  endsAtMs: number;
  /** Attempts that have passed and are not counted yet. */
  waiting: number;
  /** Attempts that have passed and are being counted. */
  sent: number;
};

/**
 * Lets attempts pass before they are counted while their subject is far from its limit, so that most requests need not
 * wait for the database. All of them are counted shortly afterwards.
 */
export function createDeferredCounter() {
  const entries = new LRUCache<string, Entry>({ max: MAX_SUBJECTS });

  return {
    /** Lets an attempt pass, or returns null if it has to be counted first. */
    take(subject: string, { rate, burst }: Allowance): RateLimit | null {
      const entry = entries.get(subject);
      if (entry === undefined) return null;
      // A changed plan takes effect at once.
      if (entry.allowance.rate !== rate || entry.allowance.burst !== burst) return null;
      const nowMs = performance.now();
      const { limit } = entry.lastCount;
      const uncounted = entry.sent + entry.waiting + 1;
      const remaining = entry.lastCount.remaining - uncounted;
      if (uncounted > limit * MAX_UNCOUNTED || remaining < limit * HEADROOM) return null;
      if (nowMs >= entry.endsAtMs - MARGIN_MS) return null;
      entry.waiting += 1;
      return {
        ...entry.lastCount,
        remaining,
        retryAfterSeconds: secondsUntil(entry.endsAtMs, nowMs),
      };
    },

    /**
     * Returns the number of deferred attempts since the last call. The caller counts them now and reports that with
     * `counted` or `failed`.
     */
    collect(subject: string): number {
      const entry = entries.peek(subject);
      const passed = entry?.waiting ?? 0;
      if (entry) {
        entry.waiting = 0;
        entry.sent += passed;
      }
      return passed;
    },

    /** Reports that `passed` collected attempts were counted. `last` is the latest position that was counted. */
    counted(subject: string, passed: number, last: Attempt): void {
      const entry = entries.peek(subject);
      if (entry === undefined) return;
      entry.sent -= passed;
      const lastCount = evaluateWindow(last, entry.allowance);
      // Answers may arrive out of order; within a window the remaining allowance only falls.
      const same = lastCount.resetAt === entry.lastCount.resetAt;
      const remaining = Math.min(lastCount.remaining, same ? entry.lastCount.remaining : Infinity);
      entry.lastCount = { ...lastCount, remaining };
      entry.endsAtMs = endOf(last);
    },

    /** Allows deferring for a subject that has just been counted. */
    open(subject: string, allowance: Allowance, attempt: Attempt): void {
      const known = entries.peek(subject);
      if (known?.allowance.rate === allowance.rate && known.allowance.burst === allowance.burst) {
        return;
      }
      const lastCount = evaluateWindow(attempt, allowance);
      const { waiting = 0, sent = 0 } = known ?? {};
      entries.set(subject, { allowance, lastCount, endsAtMs: endOf(attempt), waiting, sent });
    },

    /**
     * Reports that counting failed: no attempt is deferred on the old count. The entry stays, because other counts are
     * in progress.
     */
    failed(subject: string, passed: number): void {
      const entry = entries.peek(subject);
      if (entry === undefined) return;
      entry.sent -= passed;
      entry.endsAtMs = -Infinity;
    },
  };
}

/** Measured with the local monotonic clock, so local time is never compared with the database's. */
const endOf = ({ windowStartMs, nowMs }: Attempt) =>
  performance.now() + windowStartMs + WINDOW_MS - nowMs;
