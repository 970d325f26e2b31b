import { createKeyedThrottle } from '../../../src/platform/temporal/throttle.js';

test('a burst is done twice: the first at once, and the last one for all that came meanwhile', async () => {
  const paced = createKeyedThrottle(1);
  const done: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = paced('card', async () => {
    done.push('first');
    await held;
  });
  const burst = Array.from({ length: 1_000 }, (_, i) =>
    paced('card', async () => void done.push(`later ${i}`)),
  );
  const other = paced('another card', async () => void done.push('another'));
  await Promise.all([...burst, other]);
  expect(done).toEqual(['first', 'another']);
  release();
  await first;
  expect(done).toEqual(['first', 'another', 'later 999']);
});

test('what is asked for once all is quiet is done at once', async () => {
  const paced = createKeyedThrottle(1);
  let done = 0;
  for (let i = 0; i < 3; i += 1) await paced('card', async () => void (done += 1));
  expect(done).toBe(3);
});
