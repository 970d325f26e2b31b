import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;
const IDS_PER_QUERY = 1_000;
/** Beyond this number of waiting callers, a further caller gets null at once: memory stays bounded. */
const MAX_WAITING = 10_000;

/** A record by its tenant and its id. */
type Named = { tenantId: string; id: string };

/** Lets callers wait until a record has ended. */
export type CompletionWaiter<T> = {
  /**
   * Resolves with the record as soon as it has ended. Resolves with null when the time is over, the caller has
   * disconnected, or the process stops; null says nothing about the record.
   */
  waitForEnd(of: Named, wait: { ms: number; signal: AbortSignal }): Promise<T | null>;
  /** Number of waiting callers. */
  readonly waiting: number;
  /** Resolves all waiting callers with null. Later callers get null at once. */
  stop(): void;
};

/** The completion waiters of one process. */
export type CompletionWaiters = {
  /** Creates a waiter that `waiting` and `stop` include. */
  create: typeof createCompletionWaiter;
  /** Number of callers that wait, over all waiters. */
  readonly waiting: number;
  /** Stops all waiters that have been created. */
  stop(): void;
};

/** Creates the set of waiters of a process, empty at first. */
export function createCompletionWaiters(): CompletionWaiters {
  const all: Pick<CompletionWaiter<never>, 'waiting' | 'stop'>[] = [];
  return {
    create(given) {
      const completionWaiter = createCompletionWaiter(given);
      all.push(completionWaiter);
      return completionWaiter;
    },
    get waiting() {
      return all.reduce((sum, completionWaiter) => sum + completionWaiter.waiting, 0);
    },
    stop() {
      for (const completionWaiter of all) completionWaiter.stop();
    },
  };
}

type Waiter<T> = (found: T | null) => void;

/**
 * Waits for records to end by polling the database. One query covers all waiting callers, so the load does not grow
 * with their number, and a record that another process ends is noticed too.
 */
export function createCompletionWaiter<T extends { _id: string }>({
  findEnded,
  everyMs = EVERY_MS,
}: {
  /** Returns those of these records that have ended. */
  findEnded: (named: Named[]) => Promise<T[]>;
  everyMs?: number;
}): CompletionWaiter<T> {
  const waiters = new Map<string, Set<Waiter<T>>>();
  /** The tenants of the records, by id. */
  const tenants = new Map<string, string>();
  let waiting = 0;
  let running = false;
  let stopped = false;

  const resolveWaiters = (id: string, found: T | null) =>
    [...(waiters.get(id) ?? [])].forEach((waiter) => waiter(found));

  async function query(): Promise<void> {
    const named = [...tenants].map(([id, tenantId]) => ({ tenantId, id }));
    for (let at = 0; at < named.length; at += IDS_PER_QUERY) {
      const ended = await findEnded(named.slice(at, at + IDS_PER_QUERY));
      for (const record of ended) resolveWaiters(record._id, record);
    }
  }

  async function run(): Promise<void> {
    for (let pauseMs = everyMs; waiters.size > 0;) {
      await sleep(pauseMs);
      const startedAt = performance.now();
      // A failed query is repeated on the next round: every caller has a time limit of its own.
      await query().catch(() => undefined);
      // A slow database spends at most half of its time on these queries.
      pauseMs = Math.max(everyMs, performance.now() - startedAt);
    }
    running = false;
  }

  return {
    waitForEnd({ tenantId, id }, { ms, signal }) {
      if (stopped || signal.aborted || ms <= 0 || waiting >= MAX_WAITING) {
        return Promise.resolve(null);
      }
      return new Promise((resolve) => {
        const all = waiters.get(id) ?? new Set();
        waiters.set(id, all);
        tenants.set(id, tenantId);
        const finish: Waiter<T> = (found) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', stopWaiting);
          all.delete(finish);
          if (all.size === 0) {
            waiters.delete(id);
            tenants.delete(id);
          }
          waiting -= 1;
          resolve(found);
        };
        const stopWaiting = () => finish(null);
        const timer = setTimeout(stopWaiting, ms);
        signal.addEventListener('abort', stopWaiting, { once: true });
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
