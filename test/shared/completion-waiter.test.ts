import { setMaxListeners } from 'node:events';
import {
  createCompletionWaiter,
  createCompletionWaiters,
} from '../../src/shared/completion-waiter.js';

const never = new AbortController().signal;
setMaxListeners(0, never);
const LONG = { ms: 20_000, signal: never };

/** Records that end when they are told to. */
function records() {
  const ended = new Set<string>();
  const asked: string[][] = [];
  const watch = createCompletionWaiter<{ _id: string }>({
    everyMs: 5,
    findEnded(ids) {
      asked.push(ids);
      return Promise.resolve(ids.filter((id) => ended.has(id)).map((_id) => ({ _id })));
    },
  });
  return { ended, asked, watch };
}

describe('a watch', () => {
  test('tells all who wait for a record that has ended, and nobody else', async () => {
    const { ended, watch } = records();
    const both = [watch.waitForEnd('a', LONG), watch.waitForEnd('a', LONG)];
    const other = watch.waitForEnd('b', LONG);
    ended.add('a');
    expect(await Promise.all(both)).toEqual([{ _id: 'a' }, { _id: 'a' }]);
    expect(watch.waiting).toBe(1);
    ended.add('b');
    expect(await other).toEqual({ _id: 'b' });
  });

  test('asks for all that is waited for at once, and for nothing when nobody waits', async () => {
    const { ended, asked, watch } = records();
    const many = Array.from({ length: 2_500 }, (_, i) => `r${i}`);
    const all = many.map((id) => watch.waitForEnd(id, LONG));
    many.forEach((id) => ended.add(id));
    await Promise.all(all);
    expect(asked.map((ids) => ids.length)).toEqual([1_000, 1_000, 500]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(asked).toHaveLength(3);
  });

  test('lets go when the time is over, when the caller has gone, and when the process stops', async () => {
    const { watch } = records();
    const caller = new AbortController();
    expect(await watch.waitForEnd('a', { ms: 10, signal: never })).toBeNull();
    const left = watch.waitForEnd('a', { ...LONG, signal: caller.signal });
    const stopped = watch.waitForEnd('a', LONG);
    caller.abort();
    expect(await left).toBeNull();
    expect(watch.waiting).toBe(1);
    watch.stop();
    expect(await stopped).toBeNull();
    expect(await watch.waitForEnd('a', LONG)).toBeNull();
    expect(watch.waiting).toBe(0);
  });

  test('goes on asking after a failure', async () => {
    let failures = 3;
    const watch = createCompletionWaiter({
      everyMs: 5,
      findEnded(ids) {
        failures -= 1;
        if (failures >= 0) return Promise.reject(new Error('away'));
        return Promise.resolve(ids.map((_id) => ({ _id })));
      },
    });
    expect(await watch.waitForEnd('a', LONG)).toEqual({ _id: 'a' });
  });
});

test('a stop lets go who waits at any watch of the process, and all of them are counted', async () => {
  const completionWaiters = createCompletionWaiters();
  const never = { everyMs: 5, findEnded: () => Promise.resolve([]) };
  const [one, other] = [completionWaiters.create(never), completionWaiters.create(never)];
  const waiting = [
    one.waitForEnd('a', LONG),
    one.waitForEnd('b', LONG),
    other.waitForEnd('c', LONG),
  ];
  expect(completionWaiters.waiting).toBe(3);
  completionWaiters.stop();
  expect(await Promise.all(waiting)).toEqual([null, null, null]);
  expect(completionWaiters.waiting).toBe(0);
});
