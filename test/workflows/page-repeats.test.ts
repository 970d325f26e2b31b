import { repeatAfterMs } from '../../workflows/page-repeats.js';

const silent = { asked: 1, unanswered: 1 };
const pauses = (counts: { asked: number; unanswered: number }, isBounded?: () => boolean) =>
  [0, 1, 2, 3, 4, 5, 20].map((repeats) => repeatAfterMs(counts, repeats, isBounded));

test('a page that nobody answers is repeated after growing pauses, and left after five repeats', () => {
  expect(pauses(silent)).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, null, null]);
});

test('a run that started before the bound repeats the page for ever, as its history says', () => {
  const endless = pauses(silent, () => false);
  expect(endless.slice(-2)).toEqual([160_000, 600_000]);
});

test('a page with one answer, or without records, is not repeated', () => {
  expect(new Set(pauses({ asked: 2, unanswered: 1 }))).toEqual(new Set([null]));
  expect(new Set(pauses({ asked: 0, unanswered: 0 }))).toEqual(new Set([null]));
});
