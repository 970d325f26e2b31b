import { failpoint } from './failpoints.js';

/**
 * A lane: callers hand in items one by one, `run` gets all that wait as one batch, one batch at a time.
 * Under load the batch grows by itself, so that one round trip to the database serves many callers.
 */
export type Lane<Item, Result> = {
  /** Resolves with this item's own result; rejects with what `run` threw, or `OverloadError` when the lane is full. */
  enqueue(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>;
  /** How many wait for their batch to begin. */
  waiting(): number;
};

/** The queue is full, or the item waited longer than its caller would: nothing was done for it. */
export class OverloadError extends Error {
  constructor() {
    super('too much is waiting');
    this.name = 'OverloadError';
  }
}

export type LaneOptions<Item, Result> = {
  /** Must answer one result for each item, in order. */
  run: (items: Item[]) => Promise<Result[]>;
  maxBatch: number;
  maxWaiting: number;
  /** How long an item may wait for its batch to begin; never cut short once it has begun. */
  maxWaitMs?: number;
  /** The items of a batch may weigh this much together (an item that weighs more goes alone). */
  maxBatchWeight?: number;
  weigh?: (item: Item) => number;
};

type Waiter<Item, Result> = {
  item: Item;
  since: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

export function createLane<Item, Result>(options: LaneOptions<Item, Result>): Lane<Item, Result> {
  const queue: Waiter<Item, Result>[] = [];
  let running: Promise<void> | null = null;

  function take(): Waiter<Item, Result>[] {
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
    while (queue.length > 0) {
      const oldest = performance.now() - (options.maxWaitMs ?? Infinity);
      const batch = take().filter((waiter) => {
        if (waiter.since >= oldest) return true;
        waiter.reject(new OverloadError());
        return false;
      });
      if (batch.length > 0) await runBatch(batch);
      if (queue.length > 0) failpoint('batch.answered');
    }
    running = null;
  }

  return {
    enqueue(item) {
      if (queue.length >= options.maxWaiting) return Promise.reject(new OverloadError());
      return new Promise((resolve, reject) => {
        queue.push({ item, since: performance.now(), resolve, reject });
        running ??= drain();
      });
    },
    async idle() {
      await running;
    },
    waiting: () => queue.length,
  };
}
