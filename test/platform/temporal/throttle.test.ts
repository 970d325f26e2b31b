import { createKeyedThrottle } from '../../../src/platform/temporal/throttle.js';

test('a throttled burst runs twice: its first call at once, and its latest call once more', async () => {
  const throttle = createKeyedThrottle(1);
  const done: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = throttle('card', async () => {
    done.push('first');
    await held;
  });
  const burst = Array.from({ length: 1_000 }, (_, i) =>
    throttle('card', async () => void done.push(`later ${i}`)),
  );
  const other = throttle('another card', async () => void done.push('another'));
  await Promise.all([...burst, other]);
  expect(done).toEqual(['first', 'another']);
  release();
  await first;
  expect(done).toEqual(['first', 'another', 'later 999']);
});

test('a call after a pause runs at once', async () => {
  const throttle = createKeyedThrottle(1);
  let done = 0;
  for (let i = 0; i < 3; i += 1) await throttle('card', async () => void (done += 1));
  expect(done).toBe(3);
});
