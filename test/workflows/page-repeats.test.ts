import { repeatAfterMs } from '../../workflows/page-repeats.js';

const silent = { asked: 1, unanswered: 1 };
const pauses = (
  counts: { asked: number; unanswered: number },
  bounds?: Parameters<typeof repeatAfterMs>[2],
) => [0, 1, 2, 3, 4, 5, 20].map((repeats) => repeatAfterMs(counts, repeats, bounds));

test('a page that nobody answers is repeated after growing pauses, and left after five repeats', () => {
  expect(pauses(silent)).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, null, null]);
});

test('a run repeats a page as often as its input says', () => {
  const [first, second, ...rest] = pauses(silent, { most: 2 });
  expect([first, second]).toEqual([5_000, 10_000]);
  expect(new Set(rest)).toEqual(new Set([null]));
});

test('a run that started before the bound repeats the page for ever, as its history says', () => {
  const endless = pauses(silent, { isBounded: () => false });
  expect(endless.slice(-2)).toEqual([160_000, 600_000]);
});

test('a page with one answer, or without records, is not repeated', () => {
  expect(new Set(pauses({ asked: 2, unanswered: 1 }))).toEqual(new Set([null]));
  expect(new Set(pauses({ asked: 0, unanswered: 0 }))).toEqual(new Set([null]));
});
