import * as fc from 'fast-check';
import {
  evaluateWindow,
  assumedWindow,
  WINDOW_MS,
} from '../../../src/platform/rate-limits/rate-limit.js';

const allowance = { rate: 100, burst: 150 };
const windowStartMs = Date.parse('2026-06-01T12:00:00Z');
const at = (position: number, previous: number, intoMs = 0) =>
  evaluateWindow({ position, previous, windowStartMs, nowMs: windowStartMs + intoMs }, allowance);

test('a window after one within the rate allows exactly the burst', () => {
  expect(at(1, 0)).toMatchObject({ allowed: true, limit: 150, remaining: 149 });
  expect(at(150, 100)).toMatchObject({ allowed: true, limit: 150, remaining: 0 });
  expect(at(151, 100)).toMatchObject({ allowed: false, limit: 150, remaining: 0 });
});

test('a window after one above the rate allows exactly the rate', () => {
  expect(at(100, 101)).toMatchObject({ allowed: true, limit: 100, remaining: 0 });
  expect(at(101, 101)).toMatchObject({ allowed: false, limit: 100, remaining: 0 });
});

test('the reset is the end of the window, and Retry-After is never zero', () => {
  const resetAt = windowStartMs / 1000 + 60;
  expect(at(1, 0, 0)).toMatchObject({ resetAt, retryAfterSeconds: 60 });
  expect(at(1, 0, 59_999)).toMatchObject({ resetAt, retryAfterSeconds: 1 });
  expect(at(1, 0, 60_000)).toMatchObject({ resetAt, retryAfterSeconds: 1 });
});

test('any caller gets at most the rate in the long run, and one burst in addition', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 60 }), (attemptsPerWindow) => {
      let previous = 0;
      let passed = 0;
      let quiet = 0;
      for (const attempts of attemptsPerWindow) {
        const { limit } = at(1, previous);
        passed += Math.min(attempts, limit);
        if (attempts <= allowance.rate) quiet += allowance.rate - attempts;
        previous = attempts;
      }
      // Every burst but the first requires a preceding window within the rate.
      const quietWindows = attemptsPerWindow.filter(
        (attempts) => attempts <= allowance.rate,
      ).length;
      const bursts = (quietWindows + 1) * (allowance.burst - allowance.rate);
      expect(passed + quiet).toBeLessThanOrEqual(
        attemptsPerWindow.length * allowance.rate + bursts,
      );
    }),
  );
});

test('a caller that is always above its rate gets the rate', () => {
  let previous = 0;
  const passed = Array.from({ length: 10 }, () => {
    const { limit } = at(1, previous);
    previous = 140;
    return Math.min(140, limit);
  });
  expect(passed).toEqual([140, ...Array.from({ length: 9 }, () => 100)]);
});

test('without an answer of the counter a request passes, and the headers state the rate', () => {
  const result = assumedWindow(allowance, windowStartMs + 1);
  expect(result).toEqual({
    allowed: true,
    limit: 100,
    remaining: 100,
    resetAt: (windowStartMs + WINDOW_MS) / 1000,
    retryAfterSeconds: 60,
  });
});
