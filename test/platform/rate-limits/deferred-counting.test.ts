import { createDeferredCounter } from '../../../src/platform/rate-limits/deferred-counting.js';

/** Ten attempts may pass uncounted at any moment. */
const LARGE = { rate: 10_000, burst: 10_000 };
const SUBJECT = 'ten_x';

const counted = (position: number) => {
  const nowMs = Date.now();
  return { position, previous: 0, windowStartMs: nowMs, nowMs };
};

test('a count that returns after another one failed frees only the attempts that it counted', () => {
  const deferred = createDeferredCounter();
  const pass = () => deferred.take(SUBJECT, LARGE) !== null;
  deferred.open(SUBJECT, LARGE, counted(1));
  expect([pass(), pass()]).toEqual([true, true]);
  const first = deferred.collect(SUBJECT);
  expect(pass()).toBe(true);
  deferred.failed(SUBJECT, deferred.collect(SUBJECT));
  // After a failed count no attempt passes uncounted.
  expect(pass()).toBe(false);
  // A waiting attempt was counted, so the counter works again; then the first count arrives.
  deferred.counted(SUBJECT, 0, counted(2));
  deferred.open(SUBJECT, LARGE, counted(2));
  deferred.counted(SUBJECT, first, counted(4));
  expect(Array.from({ length: 12 }, pass).filter(Boolean)).toHaveLength(10);
});
