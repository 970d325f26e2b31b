import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../shared/log.js';
import { groupBy } from '../../shared/group.js';
import { questionsOf, type RateLimit } from '../../platform/temporal/queues.js';

/**
 * Kinds of calls that share the rate of a provider: first submissions in the workflow's own process (`first`), calls of the
 * provider's task queue (`queued`), bulk transfers and the scheduled reconciliation.
 */
export type CallKind = 'first' | 'queued' | 'bulk' | 'reconciliation';

/**
 * The part of a provider's rate that each kind always has. What one does not use is lent to the others, to bulk transfers last.
 * Ports that share a rate have an equal part of it each, which is divided in the same way.
 */
const SHARES: Record<CallKind, number> = { first: 0.25, queued: 0.75, bulk: 0, reconciliation: 0 };
const SHARES_WITH_BULK = { first: 0.25, queued: 0.2, bulk: 0.5, reconciliation: 0.05 };

/** Calls that a kind may save for later, in seconds of its share: a pause allows no burst. */
const SAVED_SECONDS = 0.25;
/** Calls that nobody uses, in seconds of the whole rate: those that only first submissions may borrow, and the others. */
const LENT_SECONDS = { first: 0.0625, others: 0.125 };

/** Calls in a row without a usable answer after which a provider counts as down. */
const DOWN_AFTER = 5;
/** Pause before the next call of one process to a provider that is down. It doubles with each call. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** Pause between two attempts of a call that waits for its turn. */
const RETRY_MS = 20;

/** A rate that one limit has, or several share. `lent`: calls that none of their kinds has used. */
type Bucket = {
  perSecond: number;
  /** The part of this process. */
  rate: number;
  limits: Limit[];
  lent: number;
  at: number;
};

/** The state of one limit: the calls that each kind has `saved`, and the circuit breaker of its port. */
type Limit = {
  bucket: Bucket;
  shares: Record<CallKind, number>;
  saved: Record<CallKind, number>;
  breaker: Breaker;
};

type Breaker = { unanswered: number; pauseMs: number; nextCallAt: number };

/** Decides in one process when a provider may be called. Providers are named by their rate-limit key. */
export type CallRates = ReturnType<typeof createCallRates>;

/**
 * Keeps the calls of all processes within each provider's rate: each process has its part, by the number of processes
 * (`workers`; 0 while it is unknown, which allows no call). Unused calls are lent between kinds. A provider that gives no
 * usable answer several times in a row is down (a circuit breaker): it then gets single calls with growing pauses, until one
 * of them is answered. Ports that share a rate have a breaker each: a silent port says nothing about the others. A port that counts
 * submissions apart has two limits (`questionsOf`) and one breaker.
 */
export function createCallRates({
  limits,
  workers,
  log,
  now = () => performance.now(),
}: {
  limits: readonly RateLimit[];
  workers: () => number;
  log?: Log;
  now?: () => number;
}) {
  const known = limitsOf(limits, now());
  let lastKnown = 0;

  /** The limit with the calls of the time that has passed; null if nothing is known about it. */
  function limitOf(name: string): Limit | null {
    const limit = known.get(name);
    lastKnown = workers() || lastKnown;
    if (!limit || lastKnown === 0) return null;
    refill(limit.bucket, limit.bucket.perSecond / lastKnown, now());
    return limit;
  }

  function isAllowed(name: string, kind: CallKind, aside = 0): boolean {
    const limit = limitOf(name);
    return limit !== null && !(kind === 'first' && workers() === 0)
      ? mayCall(limit, kind, { aside, at: now() })
      : false;
  }

  function spend(name: string, kind: CallKind): void {
    const limit = limitOf(name);
    if (!limit) return;
    countCall(limit, kind);
    const { breaker } = limit;
    if (isDown(breaker)) pause(breaker, 2 * breaker.pauseMs, now());
  }

  function take(name: string, kind: CallKind): boolean {
    if (!isAllowed(name, kind)) return false;
    spend(name, kind);
    return true;
  }

  return {
    /**
     * True if a call of this kind may be made now, in addition to those that this limit has set aside already. Limits that share
     * a rate do not see the calls that the others have set aside: those may use a lent call twice, and later calls repay it.
     */
    isAllowed,

    /** Counts a call. While the provider is down, the next one has to wait. */
    spend,

    /** Counts a call and returns true, if it may be made now. */
    take,

    /** Waits until the call may be made and counts it. Returns false if that takes longer than `withinMs`. */
    takeWithin: (name: string, kind: CallKind, withinMs: number, signal: AbortSignal) =>
      waitFor(() => take(name, kind), { until: now() + withinMs, now, signal }),

    /** The same for a further call of work that has taken its first one: the breaker has let this work through already. */
    takeMore: (name: string, kinds: readonly CallKind[], withinMs: number, signal: AbortSignal) =>
      waitFor(() => takeAny(limitOf(name), kinds), { until: now() + withinMs, now, signal }),

    /** Notes whether a call had a usable answer. */
    answered(name: string, usable: boolean): void {
      const breaker = known.get(name)?.breaker;
      if (!breaker) return;
      const wasDown = isDown(breaker);
      breaker.unanswered = usable ? 0 : breaker.unanswered + 1;
      if (wasDown === isDown(breaker)) return;
      if (wasDown) return log?.info({ provider: name }, 'provider answers again');
      log?.warn({ provider: name }, 'provider does not answer, its calls wait');
      pause(breaker, FIRST_PAUSE_MS, now());
    },

    /** Notes that a counted call was not made: while the provider is down, another one may be made in its place. */
    unused(name: string): void {
      const breaker = known.get(name)?.breaker;
      if (breaker) breaker.nextCallAt = Math.min(breaker.nextCallAt, now());
    },

    /** True if the provider and the number of processes are known. */
    isKnown: (name: string): boolean => workers() > 0 && known.has(name),
  };
}

/** The limits of a port: one for all calls, or one for submissions and one for all others. */
const limitsOfPort = ({ submissions, ...others }: RateLimit): RateLimit[] =>
  submissions
    ? [
        { ...others, bucket: undefined, ...submissions },
        { ...others, name: questionsOf(others.name) },
      ]
    : [others];

/** The state of each limit. Limits with one bucket share a rate: that of the slowest of them. */
function limitsOf(ports: readonly RateLimit[], at: number): Map<string, Limit> {
  const known = new Map<string, Limit>();
  const limits = ports.flatMap(limitsOfPort);
  for (const sharing of groupBy(limits, ({ name, bucket }) => bucket ?? name).values()) {
    const perSecond = Math.min(...sharing.map(({ callsPerSecond }) => callsPerSecond));
    const bucket: Bucket = { perSecond, rate: 0, limits: [], lent: 0, at };
    for (const { name, bulkTransfersOf } of sharing) {
      const shares = bulkTransfersOf === null ? SHARES : SHARES_WITH_BULK;
      const limit = newLimit(bucket, partOf(shares, sharing.length));
      bucket.limits.push(limit);
      known.set(name, limit);
    }
  }
  for (const { name } of ports) {
    const limit = known.get(name);
    const questions = known.get(questionsOf(name));
    if (limit && questions) questions.breaker = limit.breaker;
    else if (limit) known.set(questionsOf(name), limit);
  }
  return known;
}

const partOf = (shares: Record<CallKind, number>, limits: number): Record<CallKind, number> => ({
  first: shares.first / limits,
  queued: shares.queued / limits,
  bulk: shares.bulk / limits,
  reconciliation: shares.reconciliation / limits,
});

const newLimit = (bucket: Bucket, shares: Record<CallKind, number>): Limit => ({
  bucket,
  shares,
  saved: { first: 0, queued: 0, bulk: 0, reconciliation: 0 },
  breaker: { unanswered: 0, pauseMs: 0, nextCallAt: 0 },
});

const isDown = ({ unanswered }: Breaker): boolean => unanswered >= DOWN_AFTER;

function pause(breaker: Breaker, ms: number, at: number): void {
  breaker.pauseMs = Math.min(ms, LONGEST_PAUSE_MS);
  breaker.nextCallAt = at + breaker.pauseMs;
}

/** True if one more call may be made beside those that are set aside. A provider that is down gets one at a time. */
function mayCall(
  limit: Limit,
  kind: CallKind,
  { aside, at }: { aside: number; at: number },
): boolean {
  const { breaker } = limit;
  if (isDown(breaker) && (aside > 0 || at < breaker.nextCallAt)) return false;
  return hasCall(limit, kind, aside);
}

const hasCall = (limit: Limit, kind: CallKind, aside: number): boolean =>
  Math.floor(limit.saved[kind]) + borrowable(limit.bucket, kind) - aside >= 1;

function countCall(limit: Limit, kind: CallKind): void {
  if (limit.saved[kind] < 1 && borrowable(limit.bucket, kind) >= 1) limit.bucket.lent -= 1;
  else limit.saved[kind] -= 1;
}

/** Counts a call of the first kind that has one, whether the provider is down or not. False if none has. */
function takeAny(limit: Limit | null, kinds: readonly CallKind[]): boolean {
  const kind = limit && kinds.find((each) => hasCall(limit, each, 0));
  if (!kind) return false;
  countCall(limit, kind);
  return true;
}

/** Tries until there is a turn; false if there is none until then. */
async function waitFor(
  turn: () => boolean,
  { until, now, signal }: { until: number; now: () => number; signal: AbortSignal },
): Promise<boolean> {
  while (!turn()) {
    if (now() >= until) return false;
    await sleep(RETRY_MS, undefined, { signal });
  }
  return true;
}

/** Calls that only first submissions may borrow, so that they find some beside kinds that always wait for more. */
const keptForFirst = (rate: number): number => Math.max(1, LENT_SECONDS.first * rate);
/** Lent calls that bulk transfers leave to the queues, which then come before them. */
const KEPT_FOR_QUEUES = 1;

/** Calls that a kind may borrow now. */
function borrowable({ lent, rate }: Bucket, kind: CallKind): number {
  if (kind === 'first') return Math.max(0, Math.floor(lent));
  const kept = keptForFirst(rate) + (kind === 'bulk' ? KEPT_FOR_QUEUES : 0);
  return Math.max(0, Math.floor(lent - kept));
}

/** Gives each kind of each limit the calls of the time since the last refill. What a kind cannot save is lent. */
function refill(bucket: Bucket, rate: number, at: number): void {
  const seconds = (at - bucket.at) / 1_000;
  Object.assign(bucket, { at, rate });
  let left = 0;
  for (const { shares, saved } of bucket.limits) {
    for (const kind of Object.keys(shares) as CallKind[]) {
      const share = shares[kind] * rate;
      const full = share === 0 ? 0 : Math.max(1, share * SAVED_SECONDS);
      const filled = saved[kind] + share * seconds;
      saved[kind] = Math.min(filled, full);
      left += filled - saved[kind];
    }
  }
  const forOthers = Math.max(2 + KEPT_FOR_QUEUES, LENT_SECONDS.others * rate);
  bucket.lent = Math.min(bucket.lent + left, keptForFirst(rate) + forOthers);
}
