import { setMaxListeners } from 'node:events';
import {
  createCompletionWaiter,
  createCompletionWaiters,
} from '../../src/shared/completion-waiter.js';

const never = new AbortController().signal;
setMaxListeners(0, never);
const LONG = { ms: 20_000, signal: never };

const named = (id: string) => ({ tenantId: 'ten_a', id });

/** Records that a test can end. */
function records() {
  const ended = new Set<string>();
  const queries: string[][] = [];
  const waiter = createCompletionWaiter<{ _id: string }>({
    everyMs: 5,
    findEnded(wanted) {
      const ids = wanted.map(({ id }) => id);
      queries.push(ids);
      return Promise.resolve(ids.filter((id) => ended.has(id)).map((_id) => ({ _id })));
    },
  });
  return { ended, queries, waiter };
}

describe('a completion waiter', () => {
  test('a completion waiter resolves every caller of a record that has ended, and no other', async () => {
    const { ended, waiter } = records();
    const both = [waiter.waitForEnd(named('a'), LONG), waiter.waitForEnd(named('a'), LONG)];
    const other = waiter.waitForEnd(named('b'), LONG);
    ended.add('a');
    expect(await Promise.all(both)).toEqual([{ _id: 'a' }, { _id: 'a' }]);
    expect(waiter.waiting).toBe(1);
    ended.add('b');
    expect(await other).toEqual({ _id: 'b' });
  });

  test('a completion waiter queries all ids together, and nothing while no caller waits', async () => {
    const { ended, queries, waiter } = records();
    const many = Array.from({ length: 2_500 }, (_, i) => `r${i}`);
    const all = many.map((id) => waiter.waitForEnd(named(id), LONG));
    many.forEach((id) => ended.add(id));
    await Promise.all(all);
    expect(queries.map((ids) => ids.length)).toEqual([1_000, 1_000, 500]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(queries).toHaveLength(3);
  });

  test('a look finds an ended record without a poll, and reads no record that nobody waits for', async () => {
    const read: string[][] = [];
    const waiter = createCompletionWaiter<{ _id: string }>({
      everyMs: 2 ** 30,
      findEnded(wanted) {
        read.push(wanted.map(({ id }) => id));
        return Promise.resolve(wanted.map(({ id: _id }) => ({ _id })));
      },
    });
    const found = waiter.waitForEnd(named('a'), LONG);
    expect([waiter.isWaitingFor('a'), waiter.isWaitingFor('b')]).toEqual([true, false]);
    waiter.look(['b', 'a']);
    expect(await found).toEqual({ _id: 'a' });
    waiter.look(['a']);
    expect(read).toEqual([['a']]);
    expect(waiter.isWaitingFor('a')).toBe(false);
  });

  test('a completion waiter gives up when the time is over, when the caller disconnects, and when the process stops', async () => {
    const { waiter } = records();
    const caller = new AbortController();
    expect(await waiter.waitForEnd(named('a'), { ms: 10, signal: never })).toBeNull();
    const left = waiter.waitForEnd(named('a'), { ...LONG, signal: caller.signal });
    const stopped = waiter.waitForEnd(named('a'), LONG);
    caller.abort();
    expect(await left).toBeNull();
    expect(waiter.waiting).toBe(1);
    waiter.stop();
    expect(await stopped).toBeNull();
    expect(await waiter.waitForEnd(named('a'), LONG)).toBeNull();
    expect(waiter.waiting).toBe(0);
  });

  test('a completion waiter continues after a failed query', async () => {
    let failures = 3;
    const waiter = createCompletionWaiter({
      everyMs: 5,
      findEnded(wanted) {
        failures -= 1;
        if (failures >= 0) return Promise.reject(new Error('away'));
        return Promise.resolve(wanted.map(({ id }) => ({ _id: id })));
      },
    });
    expect(await waiter.waitForEnd(named('a'), LONG)).toEqual({ _id: 'a' });
  });
});

test('stopping the completion waiters of a process resolves every caller, and all of them are counted', async () => {
  const completionWaiters = createCompletionWaiters();
  const never = { everyMs: 5, findEnded: () => Promise.resolve([]) };
  const [one, other] = [completionWaiters.create(never), completionWaiters.create(never)];
  const waiting = [
    one.waitForEnd(named('a'), LONG),
    one.waitForEnd(named('b'), LONG),
    other.waitForEnd(named('c'), LONG),
  ];
  expect(completionWaiters.waiting).toBe(3);
  completionWaiters.stop();
  expect(await Promise.all(waiting)).toEqual([null, null, null]);
  expect(completionWaiters.waiting).toBe(0);
});
