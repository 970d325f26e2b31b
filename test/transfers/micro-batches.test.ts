import {
  createStartPause,
  MAX_MICRO_BATCH,
} from '../../src/capabilities/transfers/workflow-starter.js';

/** The pauses after starts of these sizes, `apartMs` after each other. */
function pausesOf(sizes: number[], apartMs: number): number[] {
  let clock = 0;
  const pauseAfter = createStartPause(() => clock);
  return sizes.map((size) => {
    clock += apartMs;
    return pauseAfter(size);
  });
}

const times = (count: number, size: number) => Array<number>(count).fill(size);

test('up to 25 transfers a second, no transfer waits for others', () => {
  expect(pausesOf(times(100, 1), 40)).toEqual(times(100, 0));
});

test('the pause grows with the transfers of the last second, to 100 ms and no further', () => {
  const pauses = pausesOf(times(60, 1), 10);
  expect(pauses.slice(24, 28)).toEqual([0, 4, 8, 12]);
  expect(pauses.slice(49)).toEqual(times(11, 100));
});

test('the next start follows a full micro-batch at once', () => {
  expect(pausesOf([MAX_MICRO_BATCH - 1, MAX_MICRO_BATCH, MAX_MICRO_BATCH - 1], 10)).toEqual([
    0, 0, 100,
  ]);
});

test('a second without a transfer ends the pauses', () => {
  const pauses = pausesOf([24, 24, 1], 1_000);
  expect(pauses).toEqual([0, 0, 0]);
});
