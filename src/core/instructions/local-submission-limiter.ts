/** Share of a provider's rate limit that workflows may use in their own process, without the provider's task queue. */
export const LOCAL_RATE_SHARE = 0.25;
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
   * a workflow task waits for this call alone.
   */
  acquire(
    provider: string,
    call: { ownTask: boolean },
  ): ((answer: { answered: boolean }) => void) | null;
  /** True if only the rate or the number in flight stands against a call, so that capacity returns within moments. */
  hasCapacitySoon(provider: string): boolean;
};

type Bucket = {
  tokens: number;
  at: number;
  running: number;
  ownTasks: number;
  cooldownMs: number;
  cooldownUntil: number;
};

/**
 * Limits local submissions, which need no task queue and only half of the history. The task queue also keeps a provider's
 * rate and separates providers, so the limiter does the same: all processes share a part of the rate (a token bucket),
 * the calls in flight are bounded, and a slow provider gets a cooldown. `workers` counts the processes; while it is 0
 * (unknown) every call is refused.
 */
export function createLocalSubmissionLimiter({
  providers,
  workers,
  now = () => performance.now(),
}: {
  providers: readonly { name: string; callsPerSecond: number }[];
  workers: () => number;
  now?: () => number;
}): LocalSubmissionLimiter {
  const rates = new Map(providers.map(({ name, callsPerSecond }) => [name, callsPerSecond]));
  const buckets = new Map<string, Bucket>();

  function bucketOf(provider: string): Bucket {
    const bucket = buckets.get(provider) ?? {
      tokens: 0,
      at: now(),
      running: 0,
      ownTasks: 0,
      cooldownMs: 0,
      cooldownUntil: 0,
    };
    buckets.set(provider, bucket);
    return bucket;
  }

  /** True if one more call would be too many in flight. */
  function isFull({ running, ownTasks }: Bucket, ownTask: boolean): boolean {
    if (running >= AT_ONCE) return true;
    const allOwnTasks = [...buckets.values()].reduce((sum, bucket) => sum + bucket.ownTasks, 0);
    return ownTask && (ownTasks >= OWN_TASKS || allOwnTasks >= ALL_OWN_TASKS);
  }

  /** Adds the tokens of the time since the last refill; keeps at most one second's. */
  function refill(bucket: Bucket, perSecond: number): void {
    const at = now();
    const added = ((at - bucket.at) / 1_000) * perSecond;
    bucket.tokens = Math.min(bucket.tokens + added, Math.max(perSecond, 1));
    bucket.at = at;
  }

  /** Starts a cooldown after an unhealthy call. During a cooldown it does not grow, because parallel calls fail together. */
  function finish(bucket: Bucket, isHealthy: boolean): void {
    bucket.running -= 1;
    if (isHealthy) bucket.cooldownMs = 0;
    else if (now() >= bucket.cooldownUntil) {
      bucket.cooldownMs = Math.min(
        Math.max(2 * bucket.cooldownMs, FIRST_COOLDOWN_MS),
        MAX_COOLDOWN_MS,
      );
      bucket.cooldownUntil = now() + bucket.cooldownMs;
    }
  }

  return {
    acquire(provider, { ownTask }) {
      const sharers = workers();
      const rate = rates.get(provider);
      if (sharers === 0 || rate === undefined) return null;
      const bucket = bucketOf(provider);
      refill(bucket, (rate * LOCAL_RATE_SHARE) / sharers);
      if (bucket.tokens < 1 || isFull(bucket, ownTask) || now() < bucket.cooldownUntil) return null;
      const tasks = ownTask ? 1 : 0;
      bucket.tokens -= 1;
      bucket.running += 1;
      bucket.ownTasks += tasks;
      const began = now();
      return ({ answered }) => {
        bucket.ownTasks -= tasks;
        finish(bucket, answered && now() - began <= SLOW_MS);
      };
    },
    hasCapacitySoon: (provider) =>
      workers() > 0 && rates.has(provider) && now() >= bucketOf(provider).cooldownUntil,
  };
}

/** Refuses every local submission: for processes that use task queues alone. */
export const noLocalSubmissions: LocalSubmissionLimiter = {
  acquire: () => null,
  hasCapacitySoon: () => false,
};
