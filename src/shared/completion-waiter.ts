import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;
const IDS_PER_QUERY = 1_000;
/** Who comes when so many wait in this process is answered at once. */
const MAX_WAITING = 10_000;

export type CompletionWaiter<T> = {
  /**
   * The record as soon as it has ended; null when the time is over, the caller has gone, or the process stops. A null
   * says nothing about the record.
   */
  waitForEnd(id: string, wait: { ms: number; signal: AbortSignal }): Promise<T | null>;
  /** How many wait. */
  readonly waiting: number;
  /** Lets all go who wait, and from now on nobody waits. */
  stop(): void;
};

/** All watches of a process. */
export type CompletionWaiters = {
  /** One more. */
  create: typeof createCompletionWaiter;
  /** How many wait, at any of them. */
  readonly waiting: number;
  /** Stops all there are. */
  stop(): void;
};

export function createCompletionWaiters(): CompletionWaiters {
  const all: Pick<CompletionWaiter<never>, 'waiting' | 'stop'>[] = [];
  return {
    create(given) {
      const watch = createCompletionWaiter(given);
      all.push(watch);
      return watch;
    },
    get waiting() {
      return all.reduce((sum, watch) => sum + watch.waiting, 0);
    },
    stop() {
      for (const watch of all) watch.stop();
    },
  };
}

type Waiter<T> = (found: T | null) => void;

/**
 * Waits for records to end, for any number of callers by one query: while somebody waits, all ids that are waited for
 * are asked for together, again and again. Whichever process ends a record, it is seen here.
 */
export function createCompletionWaiter<T extends { _id: string }>({
  findEnded,
  everyMs = EVERY_MS,
}: {
  /** Those of the ids that have ended. */
  findEnded: (ids: string[]) => Promise<T[]>;
  everyMs?: number;
}): CompletionWaiter<T> {
  const waiters = new Map<string, Set<Waiter<T>>>();
  let waiting = 0;
  let running = false;
  let stopped = false;

  const resolveWaiters = (id: string, found: T | null) =>
    [...(waiters.get(id) ?? [])].forEach((waiter) => waiter(found));

  async function query(): Promise<void> {
    const ids = [...waiters.keys()];
    for (let at = 0; at < ids.length; at += IDS_PER_QUERY) {
      const ended = await findEnded(ids.slice(at, at + IDS_PER_QUERY));
      for (const record of ended) resolveWaiters(record._id, record);
    }
  }

  async function run(): Promise<void> {
    for (let pauseMs = everyMs; waiters.size > 0;) {
      await sleep(pauseMs);
      const startedAt = performance.now();
      // A database that is away is asked again: who waits has a time limit, and learns then what there is to learn.
      await query().catch(() => undefined);
      // Asking takes at most half of the time, however slow it gets.
      pauseMs = Math.max(everyMs, performance.now() - startedAt);
    }
    running = false;
  }

  return {
    waitForEnd(id, { ms, signal }) {
      if (stopped || signal.aborted || ms <= 0 || waiting >= MAX_WAITING) {
        return Promise.resolve(null);
      }
      return new Promise((resolve) => {
        const all = waiters.get(id) ?? new Set();
        waiters.set(id, all);
        const finish: Waiter<T> = (found) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          all.delete(finish);
          if (all.size === 0) waiters.delete(id);
          waiting -= 1;
          resolve(found);
        };
        const giveUp = () => finish(null);
        const timer = setTimeout(giveUp, ms);
        signal.addEventListener('abort', giveUp, { once: true });
        all.add(finish);
        waiting += 1;
        if (!running) {
          running = true;
          void run();
        }
      });
    },
    get waiting() {
      return waiting;
    },
    stop() {
      stopped = true;
      for (const id of waiters.keys()) resolveWaiters(id, null);
    },
  };
}
