import { createDeferredCounter } from '../../../src/platform/rate-limits/deferred-counting.js';

/** Ten may pass uncounted at any moment. */
const LARGE = { rate: 10_000, burst: 10_000 };
const SUBJECT = 'ten_x';

const counted = (position: number) => {
  const nowMs = Date.now();
  return { position, previous: 0, windowStartMs: nowMs, nowMs };
};

test('a count that comes back after another one failed frees no more places than it took', () => {
  const ahead = createDeferredCounter();
  const pass = () => ahead.take(SUBJECT, LARGE) !== null;
  ahead.open(SUBJECT, LARGE, counted(1));
  expect([pass(), pass()]).toEqual([true, true]);
  const first = ahead.collect(SUBJECT);
  expect(pass()).toBe(true);
  ahead.failed(SUBJECT, ahead.collect(SUBJECT));
  // Nobody passes on what a broken counter said.
  expect(pass()).toBe(false);
  // One that waited was counted, so the counter is back; then the first count arrives.
  ahead.counted(SUBJECT, 0, counted(2));
  ahead.open(SUBJECT, LARGE, counted(2));
  ahead.counted(SUBJECT, first, counted(4));
  expect(Array.from({ length: 12 }, pass).filter(Boolean)).toHaveLength(10);
});
