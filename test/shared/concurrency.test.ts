import { mapInTurns } from '../../src/shared/concurrency.js';

test('a long list is mapped in order, and other work has its turns in between', async () => {
  const items = Array.from({ length: 10 }, (_, n) => n);
  let turns = 0;
  const other = (async () => {
    for (; turns < 100; turns += 1) await new Promise(setImmediate);
  })();
  const seen = await mapInTurns(3, items, (item, index) => ({ item, index, turns }));
  await other;
  expect(seen.map(({ item, index }) => [item, index])).toEqual(items.map((n) => [n, n]));
  expect(new Set(seen.map((each) => each.turns)).size).toBe(4);
  expect(seen.slice(0, 3).map((each) => each.turns)).toEqual([0, 0, 0]);
});

test('an error of one item rejects, and no later item is mapped', async () => {
  const mapped: number[] = [];
  const all = mapInTurns(1, [1, 2, 3], (item) => {
    mapped.push(item);
    if (item === 2) throw new Error('two');
  });
  await expect(all).rejects.toThrow('two');
  expect(mapped).toEqual([1, 2]);
});
