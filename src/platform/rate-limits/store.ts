import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Collection, Db } from 'mongodb';
import { createLane, OverloadError, type Lane } from '../../shared/batching.js';
import { isDuplicate } from '../database/duplicate.js';
import type { CollectionSpec } from '../database/migrations.js';
import type { Log } from '../../shared/log.js';
import { COUNT_AFTER_MS, createDeferredCounter } from './deferred-counting.js';
import {
  evaluateWindow,
  secondsUntil,
  assumedWindow,
  WINDOW_MS,
  type Allowance,
  type Attempt,
  type RateLimit,
} from './rate-limit.js';

type WindowDocument = {
  _id: string;
  window: Date;
  count: number;
  previous: number;
  /** The server's time of the last attempt. */
  at: Date;
  expires_at: Date;
};

/** The collection of rate-limit windows with its validator. Old windows expire by themselves. */
export const rateLimitsCollection: CollectionSpec = {
  name: 'rate_limits',
  validator: {
    bsonType: 'object',
    required: ['window', 'count', 'previous', 'at', 'expires_at'],
    properties: {
      window: { bsonType: 'date' },
      count: { bsonType: 'int' },
      previous: { bsonType: 'int' },
      at: { bsonType: 'date' },
      expires_at: { bsonType: 'date' },
    },
  },
  indexes: [{ key: { expires_at: 1 }, expireAfterSeconds: 0 }],
};

/** After this time a request passes uncounted. If MongoDB is away, the request ends in a 503 anyway. */
const ANSWER_WITHIN_MS = 50;
/** One batch serves all waiting attempts; the bound exists because every queue has one. */
const MAX_BATCH = 10_000;
/** Bound on the cached subjects that have used up their window. An evicted subject is counted again. */
const MAX_EXHAUSTED = 10_000;
/**
 * Bound on the subjects that are counted at one moment. With more addresses than this, attempts pass uncounted and end
 * in a 401.
 */
const MAX_SUBJECTS_AT_ONCE = 5_000;
const WARN_EVERY_MS = 10_000;

/** The shared counter of attempts. */
export type RateLimits = ReturnType<typeof createRateLimits>;

/**
 * Counts attempts in fixed windows of 60 s that all processes share, by the database's clock. Attempts that wait for
 * one subject share one update and get a position each, so exactly the allowance passes under any concurrency. Attempts
 * far from the limit do not wait; see deferred-counting.ts.
 */
export function createRateLimits({
  db,
  log,
  answerWithinMs = ANSWER_WITHIN_MS,
}: {
  db: Db;
  log: Log;
  answerWithinMs?: number;
}) {
  // A counter that loses its last moments in a crash or failover lets a few more requests pass. Waiting for journal and
  // majority would cost every request a disk flush.
  const windows = db.collection<WindowDocument>('rate_limits', {
    writeConcern: { w: 1, journal: false },
  });
  const deferred = createDeferredCounter();
  const lanes = createSubjectLanes(countWithDeferred, answerWithinMs);
  const exhausted = createExhausted();
  const warn = createThrottle(() => performance.now());
  /** The deferred counts that are scheduled, by subject. */
  const scheduled = new Map<string, Promise<unknown>>();

  /** Deferred attempts take their positions before those that wait. */
  async function countWithDeferred(subject: string, attempts: number): Promise<Attempt[]> {
    const passed = deferred.collect(subject);
    if (passed + attempts === 0) return [];
    try {
      const counted = await count(windows, subject, passed + attempts);
      deferred.counted(subject, passed, counted.at(-1) as Attempt);
      return counted.slice(passed);
    } catch (error) {
      deferred.failed(subject, passed);
      throw error;
    }
  }

  async function takeCounted(subject: string, allowance: Allowance): Promise<RateLimit> {
    try {
      const attempt = await within(answerWithinMs, lanes.enqueue(subject));
      if (attempt !== null) {
        const result = evaluateWindow(attempt, allowance);
        if (result.allowed) deferred.open(subject, allowance, attempt);
        else exhausted.add(subject, allowance, attempt, result);
        return result;
      }
      warn(() => log.warn('rate limit counter timed out: requests pass uncounted'));
    } catch (error) {
      warn(() => log.warn({ err: error }, 'rate limit counter failed: requests pass uncounted'));
    }
    return assumedWindow(allowance, Date.now());
  }

  /** The delay lets one update count all attempts that pass in the meantime. */
  function scheduleCount(subject: string): void {
    if (scheduled.has(subject)) return;
    const done = sleep(COUNT_AFTER_MS)
      .then(() => countWithDeferred(subject, 0))
      .catch((error: unknown) =>
        warn(() => log.warn({ err: error }, 'rate limit counter failed: requests pass uncounted')),
      )
      .finally(() => scheduled.delete(subject));
    scheduled.set(subject, done);
  }

  return {
    /** Counts one attempt of the subject. Never throws: if the counter does not answer or fails, the attempt passes. */
    async take(subject: string, allowance: Allowance): Promise<RateLimit> {
      const refused = exhausted.get(subject, allowance);
      if (refused !== null) return refused;
      const passed = deferred.take(subject, allowance);
      if (passed === null) return takeCounted(subject, allowance);
      scheduleCount(subject);
      return passed;
    },

    /** Returns the refusal of a subject whose window this process knows to be used up, or null. Counts and reads nothing. */
    usedUp: (subject: string, allowance: Allowance) => exhausted.get(subject, allowance),

    /** Resolves when no count is in progress. Await it before closing the database. */
    async idle(): Promise<void> {
      await Promise.all([...scheduled.values(), lanes.idle()]);
    },

    /** Number of attempts that wait to be counted. */
    waiting: () => lanes.waiting(),
  };
}

/** Counts `attempts` in one update and returns the positions that they took. */
async function count(
  windows: Collection<WindowDocument>,
  subject: string,
  attempts: number,
): Promise<Attempt[]> {
  const document = await upsert(windows, subject, attempts);
  return Array.from({ length: attempts }, (_, index) => ({
    position: document.count - attempts + 1 + index,
    previous: document.previous,
    windowStartMs: document.window.getTime(),
    nowMs: document.at.getTime(),
  }));
}

/**
 * Starts a new window if the stored one has ended. The previous count is kept only if that window was the one right
 * before.
 */
function countingPipeline(attempts: number) {
  const window = { $dateTrunc: { date: '$$NOW', unit: 'minute' } };
  const same = { $eq: ['$window', window] };
  const follows = { $eq: [{ $add: ['$window', WINDOW_MS] }, window] };
  return [
    {
      $set: {
        window,
        count: { $cond: [same, { $add: ['$count', attempts] }, attempts] },
        previous: { $cond: [same, '$previous', { $cond: [follows, '$count', 0] }] },
        at: '$$NOW',
        expires_at: { $add: [window, 5 * WINDOW_MS] },
      },
    },
  ];
}

async function upsert(
  windows: Collection<WindowDocument>,
  subject: string,
  attempts: number,
): Promise<WindowDocument> {
  const options = { upsert: true, returnDocument: 'after', maxTimeMS: 1_000 } as const;
  const update = () =>
    windows.findOneAndUpdate({ _id: subject }, countingPipeline(attempts), options);
  let document: WindowDocument | null;
  try {
    document = await update();
  } catch (error) {
    // Two processes counted a new subject at once: the document exists now.
    if (!isDuplicate(error)) throw error;
    document = await update();
  }
  if (document === null) throw new Error('the upsert returned no document');
  return document;
}

/** Keeps a lane only for subjects with an attempt in flight, so there are never more lanes than requests. */
function createSubjectLanes(
  run: (subject: string, attempts: number) => Promise<Attempt[]>,
  maxWaitMs: number,
) {
  const lanes = new Map<string, { lane: Lane<null, Attempt>; inFlight: number }>();

  function open(subject: string) {
    if (lanes.size >= MAX_SUBJECTS_AT_ONCE) throw new OverloadError();
    const lane = createLane<null, Attempt>({
      run: (items) => run(subject, items.length),
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_BATCH,
      maxWaitMs,
    });
    const entry = { lane, inFlight: 0 };
    lanes.set(subject, entry);
    return entry;
  }

  return {
    async enqueue(subject: string): Promise<Attempt> {
      const entry = lanes.get(subject) ?? open(subject);
      entry.inFlight += 1;
      try {
        return await entry.lane.enqueue(null);
      } finally {
        entry.inFlight -= 1;
        if (entry.inFlight === 0) lanes.delete(subject);
      }
    },
    async idle(): Promise<void> {
      await Promise.all([...lanes.values()].map(({ lane }) => lane.idle()));
    },
    waiting: () => [...lanes.values()].reduce((sum, { lane }) => sum + lane.waiting(), 0),
  };
}

/**
 * Caches refused subjects until their window ends: a caller that stays above its limit costs the database nothing. Its
 * count may stop, because it is above the rate already, which is all that decides about the next window's burst.
 */
function createExhausted() {
  type Entry = { allowance: Allowance; result: RateLimit; endsAtMs: number };
  const entries = new LRUCache<string, Entry>({ max: MAX_EXHAUSTED });
  return {
    add(subject: string, allowance: Allowance, attempt: Attempt, result: RateLimit): void {
      // Measured with the local monotonic clock, so local time is never compared with the database's.
      const leftMs = attempt.windowStartMs + WINDOW_MS - attempt.nowMs;
      entries.set(subject, { allowance, result, endsAtMs: performance.now() + leftMs });
    },
    get(subject: string, allowance: Allowance): RateLimit | null {
      const entry = entries.get(subject);
      const nowMs = performance.now();
      if (entry === undefined || nowMs >= entry.endsAtMs) return null;
      // A changed plan takes effect at once.
      if (entry.allowance.rate !== allowance.rate || entry.allowance.burst !== allowance.burst)
        return null;
      return { ...entry.result, retryAfterSeconds: secondsUntil(entry.endsAtMs, nowMs) };
    },
  };
}

/**
 * The value, or null if the time is over. One more turn of the event loop follows, because the answer may have arrived
 * at the socket already.
 */
function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(resolve, null), ms);
    promise
      .finally(() => clearTimeout(timer))
      .then(resolve, (error: unknown) =>
        error instanceof OverloadError ? resolve(null) : reject(error),
      );
  });
}

function createThrottle(nowMs: () => number) {
  let nextMs = 0;
  return (act: () => void) => {
    if (nowMs() < nextMs) return;
    nextMs = nowMs() + WARN_EVERY_MS;
    act();
  };
}
