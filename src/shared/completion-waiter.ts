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
  /** True if a caller waits for this record. */
  isWaitingFor(id: string): boolean;
  /** Reads these records now instead of at the next poll, because they have probably ended. */
  look(ids: readonly string[]): void;
  /** Number of waiting callers. */
  readonly waiting: number;
  /** Resolves all waiting callers with null. Later callers get null at once. */
  stop(): void;
};

/** The completion waiters of one process. */
export type CompletionWaiters = {
  /** Creates a waiter that `waiting` and `stop` include. */
  create: typeof createCompletionWaiter;
  /** True if a caller waits for this record, whatever its kind. */
  isWaitingFor(id: string): boolean;
  /** Reads these records now: the workflow that executes them has ended. */
  look(ids: readonly string[]): void;
  /** Number of callers that wait, over all waiters. */
  readonly waiting: number;
  /** Stops all waiters that have been created. */
  stop(): void;
};

/** Creates the set of waiters of a process, empty at first. */
export function createCompletionWaiters(): CompletionWaiters {
  const all: Omit<CompletionWaiter<never>, 'waitForEnd'>[] = [];
  return {
    create(given) {
      const completionWaiter = createCompletionWaiter(given);
      all.push(completionWaiter);
      return completionWaiter;
    },
    isWaitingFor: (id) => all.some((completionWaiter) => completionWaiter.isWaitingFor(id)),
    look(ids) {
      for (const completionWaiter of all) completionWaiter.look(ids);
    },
    get waiting() {
      return all.reduce((sum, completionWaiter) => sum + completionWaiter.waiting, 0);
    },
    stop() {
      for (const completionWaiter of all) completionWaiter.stop();
    },
  };
}

/** The callers who wait, by record. */
function createCallers<T>() {
  type Caller = (found: T | null) => void;
  const records = new Map<string, { tenantId: string; callers: Set<Caller> }>();
  let waiting = 0;

  function add({ tenantId, id }: Named, wait: { ms: number; signal: AbortSignal }) {
    return new Promise<T | null>((resolve) => {
      const { callers } = records.get(id) ?? { callers: new Set<Caller>() };
      records.set(id, { tenantId, callers });
      const finish: Caller = (found) => {
        clearTimeout(timer);
        wait.signal.removeEventListener('abort', giveUp);
        callers.delete(finish);
        if (callers.size === 0) records.delete(id);
        waiting -= 1;
        resolve(found);
      };
      const giveUp = () => finish(null);
      const timer = setTimeout(giveUp, wait.ms);
      wait.signal.addEventListener('abort', giveUp, { once: true });
      callers.add(finish);
      waiting += 1;
    });
  }

  return {
    add,
    resolve: (id: string, found: T | null): void =>
      [...(records.get(id)?.callers ?? [])].forEach((caller) => caller(found)),
    has: (id: string): boolean => records.has(id),
    /** Those of these records that somebody waits for. */
    named: (ids: Iterable<string> = records.keys()): Named[] =>
      [...ids].flatMap((id) => {
        const record = records.get(id);
        return record ? [{ tenantId: record.tenantId, id }] : [];
      }),
    waiting: (): number => waiting,
  };
}

/**
 * Waits for records to end by polling the database. One query covers all waiting callers, so the load does not grow
 * with their number, and a record that another process ends is noticed too. `look` reads a record before its next poll.
 */
export function createCompletionWaiter<T extends { _id: string }>({
  findEnded,
  everyMs = EVERY_MS,
}: {
  /** Returns those of these records that have ended. */
  findEnded: (named: Named[]) => Promise<T[]>;
  everyMs?: number;
}): CompletionWaiter<T> {
  const callers = createCallers<T>();
  let running = false;
  let stopped = false;

  async function query(named: Named[]): Promise<void> {
    for (let at = 0; at < named.length; at += IDS_PER_QUERY) {
      const ended = await findEnded(named.slice(at, at + IDS_PER_QUERY));
      for (const record of ended) callers.resolve(record._id, record);
    }
  }

  async function poll(): Promise<void> {
    for (let pauseMs = everyMs; callers.waiting() > 0;) {
      await sleep(pauseMs, undefined, { ref: false });
      const startedAt = performance.now();
      // A failed query is repeated on the next round: every caller has a time limit of its own.
      await query(callers.named()).catch(() => undefined);
      // A slow database spends at most half of its time on these queries.
      pauseMs = Math.max(everyMs, performance.now() - startedAt);
    }
    running = false;
  }

  return {
    waitForEnd(named, wait) {
      const isFull = callers.waiting() >= MAX_WAITING;
      if (stopped || wait.signal.aborted || wait.ms <= 0 || isFull) return Promise.resolve(null);
      const found = callers.add(named, wait);
      if (!running) {
        running = true;
        void poll();
      }
      return found;
    },
    isWaitingFor: (id) => callers.has(id),
    // A failed query is repeated by the next poll.
    look: (ids) => void query(callers.named(ids)).catch(() => undefined),
    get waiting() {
      return callers.waiting();
    },
    stop() {
      stopped = true;
      for (const { id } of callers.named()) callers.resolve(id, null);
    },
  };
}
