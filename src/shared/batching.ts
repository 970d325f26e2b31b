import { failpoint } from './failpoints.js';

/**
 * A queue that batches by itself: callers enqueue items one by one, and `run` gets all waiting items as one batch, one
 * batch at a time. Batches grow with the load, so one round trip to the database serves many callers.
 */
export type Lane<Item, Result> = {
  /**
   * Resolves with this item's own result. Rejects with the error of `run`, or with `OverloadError` when the lane is
   * full.
   */
  enqueue(item: Item): Promise<Result>;
  /** Resolves when no item waits and no batch is in flight. */
  idle(): Promise<void>;
  /** Number of items whose batch has not begun. */
  waiting(): number;
};

/** The queue is full, or the item waited longer than `maxWaitMs`: `run` never got the item. */
export class OverloadError extends Error {
  constructor() {
    super('the queue is full');
    this.name = 'OverloadError';
  }
}

/** Settings of a lane. Queue length, batch size, and (if set) waiting time and batch weight are bounded. */
export type LaneOptions<Item, Result> = {
  /** Returns one result for each item, in order. Any other number of results fails the whole batch. */
  run: (items: Item[]) => Promise<Result[]>;
  maxBatch: number;
  maxWaiting: number;
  /** Bound on the time before an item's batch begins. A batch that has begun is never cut short. */
  maxWaitMs?: number;
  /** Bound on the total weight of a batch. A single heavier item gets a batch of its own. */
  maxBatchWeight?: number;
  weigh?: (item: Item) => number;
  /**
   * True for an item that does not wait behind others: urgent items have batches of their own, which come first. While others
   * wait, an urgent batch and one of them alternate.
   */
  isUrgent?: (item: Item) => boolean;
  /**
   * Items that other processes send. The next ones need a while to come. So after a batch with some of them the lane waits,
   * `withinMs` at most, for as many items as the batch had, plus those that waited when it ended.
   */
  relayed?: { isRelayed: (item: Item) => boolean; withinMs: number };
};

type Waiter<Item, Result> = {
  item: Item;
  since: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/** Creates a lane; see `Lane`. Every enqueued item is resolved or rejected, in the order of arrival among its equals. */
export function createLane<Item, Result>(options: LaneOptions<Item, Result>): Lane<Item, Result> {
  const gathering = createGathering(options.relayed?.withinMs ?? 0);
  const urgent: Waiter<Item, Result>[] = [];
  const others: Waiter<Item, Result>[] = [];
  const waiting = () => urgent.length + others.length;
  let wasUrgent = false;
  let running: Promise<void> | null = null;

  function take(): Waiter<Item, Result>[] {
    wasUrgent = urgent.length > 0 && !(wasUrgent && others.length > 0);
    const queue = wasUrgent ? urgent : others;
    const { maxBatch, maxBatchWeight = Infinity, weigh = () => 0 } = options;
    let count = 0;
    let weight = 0;
    for (const waiter of queue) {
      weight += weigh(waiter.item);
      if (count === maxBatch || (count > 0 && weight > maxBatchWeight)) break;
      count += 1;
    }
    return queue.splice(0, count);
  }

  async function runBatch(batch: Waiter<Item, Result>[]): Promise<void> {
    try {
      const results = await options.run(batch.map((waiter) => waiter.item));
      if (results.length !== batch.length) throw new Error('a batch must answer every item');
      batch.forEach((waiter, i) => waiter.resolve(results[i] as Result));
    } catch (error) {
      for (const waiter of batch) waiter.reject(error);
    }
  }

  async function drain(): Promise<void> {
    // One turn of the event loop lets requests that arrived together share the first batch.
    await new Promise(setImmediate);
    while (waiting() > 0) {
      if (urgent.length === 0) await gathering.wait(waiting);
      const oldest = performance.now() - (options.maxWaitMs ?? Infinity);
      const batch = take().filter((waiter) => {
        if (waiter.since >= oldest) return true;
        waiter.reject(new OverloadError());
        return false;
      });
      if (batch.length > 0) await runBatch(batch);
      const hasRelayed = batch.some(({ item }) => options.relayed?.isRelayed(item));
      gathering.expect(hasRelayed ? Math.min(batch.length + waiting(), options.maxBatch) : 0);
      if (waiting() > 0) failpoint('batch.answered');
    }
    running = null;
  }

  return {
    enqueue(item) {
      const queue = options.isUrgent?.(item) ? urgent : others;
      if (queue.length >= options.maxWaiting) return Promise.reject(new OverloadError());
      return new Promise((resolve, reject) => {
        queue.push({ item, since: performance.now(), resolve, reject });
        running ??= drain();
        gathering.arrived(waiting, queue === urgent);
      });
    },
    async idle() {
      await running;
    },
    waiting,
  };
}

/** Waits for the items that are expected after a batch. An urgent item ends the wait. */
function createGathering(withinMs: number) {
  let expected = 0;
  let until = 0;
  let end: (() => void) | null = null;
  return {
    expect(items: number): void {
      expected = items;
      until = performance.now() + withinMs;
    },
    arrived(waiting: () => number, isUrgent: boolean): void {
      if (end && (isUrgent || waiting() >= expected)) end();
    },
    async wait(waiting: () => number): Promise<void> {
      const ms = until - performance.now();
      if (waiting() >= expected || ms <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      end = null;
    },
  };
}
