import { createLane } from '../../src/shared/batching.js';

type Item = { name: string; urgent: boolean };

/** A lane whose batches end when they are let go, and the names in each batch so far. */
function heldLane({ maxBatch = 100 } = {}) {
  const batches: string[][] = [];
  const begun: (() => void)[] = [];
  const lane = createLane<Item, string>({
    async run(items) {
      batches.push(items.map(({ name }) => name));
      await new Promise<void>((resolve) => begun.push(resolve));
      return items.map(({ name }) => name);
    },
    maxBatch,
    maxWaiting: 10_000,
    isUrgent: ({ urgent }) => urgent,
  });
  /** Lets the running batch end, once it has begun. */
  async function letGo(): Promise<void> {
    while (begun.length === 0) await new Promise(setImmediate);
    begun.shift()?.();
    await new Promise(setImmediate);
  }
  return { lane, batches, letGo };
}

const other = (n: number): Item => ({ name: `other-${n}`, urgent: false });
const urgent = (n: number): Item => ({ name: `urgent-${n}`, urgent: true });

test('a decision behind a thousand other items is in the next batch, and alone there', async () => {
  const { lane, batches, letGo } = heldLane();
  const bulk = Array.from({ length: 1_000 }, (_, n) => lane.enqueue(other(n)));
  while (batches.length === 0) await new Promise(setImmediate);
  const decision = lane.enqueue(urgent(0));
  await letGo();
  while (batches.length < 2) await new Promise(setImmediate);
  expect(batches[1]).toEqual(['urgent-0']);
  await letGo();
  expect(await decision).toBe('urgent-0');
  for (let left = 9; left > 0; left -= 1) await letGo();
  expect(await Promise.all(bulk)).toEqual(Array.from({ length: 1_000 }, (_, n) => `other-${n}`));
});

test('a stream of decisions does not keep others waiting: their batches alternate', async () => {
  const { lane, batches, letGo } = heldLane({ maxBatch: 2 });
  const all = [0, 1, 2, 3].flatMap((n) => [lane.enqueue(urgent(n)), lane.enqueue(other(n))]);
  for (let left = 4; left > 0; left -= 1) await letGo();
  await Promise.all(all);
  expect(batches).toEqual([
    ['urgent-0', 'urgent-1'],
    ['other-0', 'other-1'],
    ['urgent-2', 'urgent-3'],
    ['other-2', 'other-3'],
  ]);
});
