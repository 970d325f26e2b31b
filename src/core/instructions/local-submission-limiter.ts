/** Part of a provider's calls per second that workflows may make where they run, without the provider's queue. */
export const LOCAL_RATE_SHARE = 0.25;
/** Such calls to one provider at once in one process: a slow one never takes all the room there is. */
const AT_ONCE = 20;
/** And to all of them, so that two slow ones don't either: fewer than the turns of workflows a process has (worker.ts). */
const ALL_AT_ONCE = 24;
/** A provider that was slower than this, or silent, is left to its queue for a while; each time in a row twice as long. */
const SLOW_MS = 1_000;
const FIRST_COOLDOWN_MS = 1_000;
const MAX_COOLDOWN_MS = 10_000;

export type LocalSubmissionLimiter = {
  /** Leave to call the provider from here, at once; to be told how that went. Null: use its queue. */
  acquire(provider: string): ((answer: { answered: boolean }) => void) | null;
  /** Whether nothing but too many at once keeps one out, so that it is worth waiting a moment. */
  hasCapacitySoon(provider: string): boolean;
};

type Bucket = {
  tokens: number;
  at: number;
  running: number;
  cooldownMs: number;
  cooldownUntil: number;
};

/**
 * Who may send an order where its workflow runs: that spares the provider's queue, and half of the history with it.
 * The queue is what keeps a provider's rate and keeps a slow provider from holding back the others, so both are kept
 * here: a share of the rate that all processes divide among them, a bound on what runs at once, and a rest for whoever
 * is slow. `workers` is how many processes there are; 0 is not known yet, and then nobody enters.
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
      cooldownMs: 0,
      cooldownUntil: 0,
    };
    buckets.set(provider, bucket);
    return bucket;
  }

  const runningAnywhere = () =>
    [...buckets.values()].reduce((sum, { running }) => sum + running, 0);

  /** What has come since is added; at most what a second brings is kept. */
  function refill(bucket: Bucket, perSecond: number): void {
    const at = now();
    const added = ((at - bucket.at) / 1_000) * perSecond;
    bucket.tokens = Math.min(bucket.tokens + added, Math.max(perSecond, 1));
    bucket.at = at;
  }

  /** Calls that were under way together fail together: who rests already is not sent to rest again. */
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
    acquire(provider) {
      const sharers = workers();
      const rate = rates.get(provider);
      if (sharers === 0 || rate === undefined) return null;
      const bucket = bucketOf(provider);
      refill(bucket, (rate * LOCAL_RATE_SHARE) / sharers);
      const isFull = runningAnywhere() >= ALL_AT_ONCE || bucket.running >= AT_ONCE;
      if (bucket.tokens < 1 || isFull || now() < bucket.cooldownUntil) return null;
      bucket.tokens -= 1;
      bucket.running += 1;
      const began = now();
      return ({ answered }) => finish(bucket, answered && now() - began <= SLOW_MS);
    },
    hasCapacitySoon: (provider) =>
      workers() > 0 && rates.has(provider) && now() >= bucketOf(provider).cooldownUntil,
  };
}

/** For processes that leave every call to the queue. */
export const noLocalSubmissions: LocalSubmissionLimiter = {
  acquire: () => null,
  hasCapacitySoon: () => false,
};
