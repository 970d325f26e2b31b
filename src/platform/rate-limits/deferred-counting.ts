import { LRUCache } from 'lru-cache';
import {
  evaluateWindow,
  secondsUntil,
  WINDOW_MS,
  type Allowance,
  type Attempt,
  type RateLimit,
} from './rate-limit.js';

/** Subjects whose window is known; a forgotten one is only counted first again. */
const MAX_SUBJECTS = 10_000;
/**
 * The part of a window's allowance that a process may let pass uncounted at any moment: what all together may be above
 * the allowance for each further process. It is nothing for small plans, which stay exact.
 */
const MAX_UNCOUNTED = 1 / 1_000;
/** The part of it that has to be left. */
const HEADROOM = 1 / 2;
/** Attempts that pass ahead of their count are counted this much later, together. */
export const COUNT_AFTER_MS = 50;
/** Not so close to the end that the count would fall into the next window. */
const MARGIN_MS = COUNT_AFTER_MS + 100;

type Entry = {
  allowance: Allowance;
  /** As the counter last said. */
  lastCount: RateLimit;
  endsAtMs: number;
  /** Passed, and not counted yet. */
  waiting: number;
  /** Passed, and on their way to the counter. */
  sent: number;
};

/**
 * Lets attempts pass before they are counted while their subject is far from its limit, as nearly all are: they need not
 * wait for the database. All of them are counted a moment later.
 */
export function createDeferredCounter() {
  const entries = new LRUCache<string, Entry>({ max: MAX_SUBJECTS });

  return {
    /** Null: this attempt has to be counted first. */
    take(subject: string, { rate, burst }: Allowance): RateLimit | null {
      const entry = entries.get(subject);
      if (entry === undefined) return null;
      // A new plan counts at once.
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

    /** How many have passed since this was last asked: they are to be counted now, and `counted` says that they are. */
    collect(subject: string): number {
      const entry = entries.peek(subject);
      const passed = entry?.waiting ?? 0;
      if (entry) {
        entry.waiting = 0;
        entry.sent += passed;
      }
      return passed;
    },

    /** `last` is the latest position that was counted, with those that had been collected. */
    counted(subject: string, passed: number, last: Attempt): void {
      const entry = entries.peek(subject);
      if (entry === undefined) return;
      entry.sent -= passed;
      const lastCount = evaluateWindow(last, entry.allowance);
      // Answers may overtake each other; within a window there is only ever less.
      const same = lastCount.resetAt === entry.lastCount.resetAt;
      const remaining = Math.min(lastCount.remaining, same ? entry.lastCount.remaining : Infinity);
      entry.lastCount = { ...lastCount, remaining };
      entry.endsAtMs = endOf(last);
    },

    /** Who has just been counted may pass ahead from now on. */
    open(subject: string, allowance: Allowance, attempt: Attempt): void {
      const known = entries.peek(subject);
      if (known?.allowance.rate === allowance.rate && known.allowance.burst === allowance.burst) {
        return;
      }
      const lastCount = evaluateWindow(attempt, allowance);
      const { waiting = 0, sent = 0 } = known ?? {};
      entries.set(subject, { allowance, lastCount, endsAtMs: endOf(attempt), waiting, sent });
    },

    /** The counter failed: nobody passes on what it said before. The entry stays, for others are on their way. */
    failed(subject: string, passed: number): void {
      const entry = entries.peek(subject);
      if (entry === undefined) return;
      entry.sent -= passed;
      entry.endsAtMs = -Infinity;
    },
  };
}

/** Measured from now by our own monotonic clock: the two clocks are never compared. */
const endOf = ({ windowStartMs, nowMs }: Attempt) =>
  performance.now() + windowStartMs + WINDOW_MS - nowMs;
