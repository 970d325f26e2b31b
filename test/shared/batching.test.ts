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

describe('the items that another process sends', () => {
  /** Long enough that the test hangs if the lane waits for its end. */
  const FAR_MS = 1_000_000;

  function relayedLane(withinMs: number) {
    const batches: string[][] = [];
    const lane = createLane<Item, string>({
      async run(items) {
        batches.push(items.map(({ name }) => name));
        return items.map(({ name }) => name);
      },
      maxBatch: 100,
      maxWaiting: 100,
      isUrgent: (item) => item.urgent,
      relayed: { isRelayed: ({ name }) => name.startsWith('relayed'), withinMs },
    });
    return { lane, batches };
  }
  const relayed = (n: number): Item => ({ name: `relayed-${n}`, urgent: false });

  test('share their next batch again, although they come back one after the other', async () => {
    const { lane, batches } = relayedLane(FAR_MS);
    await Promise.all([lane.enqueue(relayed(0)), lane.enqueue(other(0))]);
    const first = lane.enqueue(other(1));
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
    await Promise.all([first, lane.enqueue(relayed(1))]);
    expect(batches).toEqual([
      ['relayed-0', 'other-0'],
      ['other-1', 'relayed-1'],
    ]);
  });

  test('keep no urgent item waiting', async () => {
    const { lane, batches } = relayedLane(FAR_MS);
    await Promise.all([lane.enqueue(relayed(0)), lane.enqueue(relayed(1))]);
    const waits = lane.enqueue(other(0));
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
    expect(await lane.enqueue(urgent(0))).toBe('urgent-0');
    expect(batches).toEqual([['relayed-0', 'relayed-1'], ['urgent-0']]);
    expect(await waits).toBe('other-0');
  });

  test('are waited for a short time only', async () => {
    const { lane, batches } = relayedLane(1);
    await Promise.all([lane.enqueue(relayed(0)), lane.enqueue(relayed(1))]);
    await lane.enqueue(other(0));
    expect(batches).toEqual([['relayed-0', 'relayed-1'], ['other-0']]);
  });

  test('are not waited for after a batch without them', async () => {
    const { lane, batches } = relayedLane(FAR_MS);
    await Promise.all([lane.enqueue(other(0)), lane.enqueue(other(1))]);
    await lane.enqueue(other(2));
    expect(batches).toEqual([['other-0', 'other-1'], ['other-2']]);
  });
});
