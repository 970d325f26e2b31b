import type { CallRates } from '../providers/call-rates.js';

/** Local calls to one provider in flight in one process: two full micro-batches. */
const AT_ONCE = 50;
/**
 * Calls in flight that have a workflow task of their own: to one provider, so that a slow one does not use all the capacity,
 * and to all of them, fewer than MAX_WORKFLOW_TASKS of worker.ts, so that workflow tasks stay free.
 */
const OWN_TASKS = 20;
const ALL_OWN_TASKS = 24;
/** A provider that is slower than this, or silent, gets no local calls during a cooldown, which doubles each time in a row. */
const SLOW_MS = 1_000;
const FIRST_COOLDOWN_MS = 1_000;
const MAX_COOLDOWN_MS = 10_000;

/** Decides which submissions may be made in the workflow's own process. */
export type LocalSubmissionLimiter = {
  /**
   * Allows one call now and returns a function to report its end, or null: then use the provider's task queue. `ownTask`:
   * a workflow task waits for this call alone. `answered`: null if the provider was not called.
   */
  acquire(
    provider: string,
    call: { ownTask: boolean },
  ): ((answer: { answered: boolean | null }) => void) | null;
  /** True if only the rate or the number in flight stands against a call, so that capacity returns within moments. */
  hasCapacitySoon(provider: string): boolean;
};

type Calls = {
  running: number;
  ownTasks: number;
  cooldownMs: number;
  cooldownUntil: number;
};

/**
 * Limits local submissions, which need no task queue and only half of the history. The task queue also keeps a provider's
 * rate and separates providers, so the limiter does the same: each call is one of the provider's rate, the calls in flight are
 * bounded, and a slow provider gets a cooldown.
 */
export function createLocalSubmissionLimiter({
  rates,
  now = () => performance.now(),
}: {
  rates: Pick<CallRates, 'take' | 'answered' | 'unused' | 'isKnown'>;
  now?: () => number;
}): LocalSubmissionLimiter {
  const calls = new Map<string, Calls>();

  function callsOf(provider: string): Calls {
    const found = calls.get(provider) ?? {
      running: 0,
      ownTasks: 0,
      cooldownMs: 0,
      cooldownUntil: 0,
    };
    calls.set(provider, found);
    return found;
  }

  /** True if one more call would be too many in flight. */
  function isFull({ running, ownTasks }: Calls, ownTask: boolean): boolean {
    if (running >= AT_ONCE) return true;
    const allOwnTasks = [...calls.values()].reduce((sum, each) => sum + each.ownTasks, 0);
    return ownTask && (ownTasks >= OWN_TASKS || allOwnTasks >= ALL_OWN_TASKS);
  }

  /** Starts a cooldown after an unhealthy call. During a cooldown it does not grow, because parallel calls fail together. */
  function finish(own: Calls, isHealthy: boolean): void {
    own.running -= 1;
    if (isHealthy) own.cooldownMs = 0;
    else if (now() >= own.cooldownUntil) {
      own.cooldownMs = Math.min(Math.max(2 * own.cooldownMs, FIRST_COOLDOWN_MS), MAX_COOLDOWN_MS);
      own.cooldownUntil = now() + own.cooldownMs;
    }
  }

  return {
    acquire(provider, { ownTask }) {
      const own = callsOf(provider);
      if (isFull(own, ownTask) || now() < own.cooldownUntil) return null;
      if (!rates.take(provider, 'first')) return null;
      const tasks = ownTask ? 1 : 0;
      own.running += 1;
      own.ownTasks += tasks;
      const began = now();
      return ({ answered }) => {
        own.ownTasks -= tasks;
        if (answered === null) rates.unused(provider);
        else rates.answered(provider, answered);
        finish(own, answered !== false && now() - began <= SLOW_MS);
      };
    },
    hasCapacitySoon: (provider) =>
      rates.isKnown(provider) && now() >= callsOf(provider).cooldownUntil,
  };
}

/** Refuses every local submission: for processes that use task queues alone. */
export const noLocalSubmissions: LocalSubmissionLimiter = {
  acquire: () => null,
  hasCapacitySoon: () => false,
};
