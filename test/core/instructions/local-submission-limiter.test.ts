import { createLocalSubmissionLimiter } from '../../../src/core/instructions/local-submission-limiter.js';
import { MAX_WORKFLOW_TASKS } from '../../../worker/worker.js';

/** A clock that the test moves, and one provider that takes 40 calls a second: 10 of them from here. */
function setUp(workers = 1) {
  const at = { ms: 0, workers };
  const limiter = createLocalSubmissionLimiter({
    providers: [{ name: 'bank', callsPerSecond: 40 }],
    workers: () => at.workers,
    now: () => at.ms,
  });
  /** Enters and leaves at once, as often as it is let in. */
  const acquireAll = (most = 1_000): number => {
    for (let count = 0; count < most; count += 1) {
      const finish = limiter.acquire('bank');
      if (!finish) return count;
      finish({ answered: true });
    }
    return most;
  };
  const pass = (ms: number) => void (at.ms += ms);
  return { limiter, acquireAll, pass, at };
}

test('in any second no more than the share of the rate goes out from here', () => {
  const { acquireAll, pass } = setUp();
  acquireAll();
  pass(1_000);
  expect(acquireAll()).toBe(10);
  pass(500);
  expect(acquireAll()).toBe(5);
  pass(60_000);
  expect(acquireAll()).toBe(10);
});

test('processes divide the share, and where nobody knows how many there are nothing goes out', () => {
  const { acquireAll, pass, at } = setUp(5);
  acquireAll();
  pass(1_000);
  expect(acquireAll()).toBe(2);
  at.workers = 0;
  pass(1_000);
  expect(acquireAll()).toBe(0);
});

test('a provider that hangs gets so many calls at once and no more, others go on', () => {
  const at = { ms: 0 };
  const limiter = createLocalSubmissionLimiter({
    providers: ['slow', 'fast'].map((name) => ({ name, callsPerSecond: 100_000 })),
    workers: () => 1,
    now: () => at.ms,
  });
  limiter.acquire('slow');
  at.ms += 1_000;
  let inside = 0;
  while (inside < 1_000 && limiter.acquire('slow')) inside += 1;
  expect(inside).toBeLessThanOrEqual(20);
  limiter.acquire('fast');
  at.ms += 1_000;
  expect(limiter.acquire('fast')).not.toBeNull();
});

test.each([
  ['silent', { answered: false }, 0],
  ['slow', { answered: true }, 1_500],
])('a provider that was %s is left to its queue for a while, then tried again', (_, answer, ms) => {
  const { limiter, acquireAll, pass } = setUp();
  acquireAll();
  pass(1_000);
  const finish = limiter.acquire('bank');
  pass(ms);
  finish?.(answer);
  expect(acquireAll()).toBe(0);
  pass(900);
  expect(acquireAll()).toBe(0);
  pass(200);
  expect(acquireAll()).toBeGreaterThan(0);
});

test('several that hang at once together get fewer calls than a process has turns for workflows', () => {
  const at = { ms: 0 };
  const names = ['one', 'two', 'three', 'four'];
  const limiter = createLocalSubmissionLimiter({
    providers: names.map((name) => ({ name, callsPerSecond: 100_000 })),
    workers: () => 1,
    now: () => at.ms,
  });
  for (const name of names) limiter.acquire(name)?.({ answered: true });
  at.ms += 1_000;
  let inside = 0;
  for (const name of names) {
    for (let finish = limiter.acquire(name); finish; finish = limiter.acquire(name)) inside += 1;
  }
  expect(inside).toBeGreaterThan(20);
  expect(inside).toBeLessThan(MAX_WORKFLOW_TASKS);
});

test('each time in a row a provider is left alone for twice as long, up to ten seconds; one good answer ends that', () => {
  const { limiter, acquireAll, pass } = setUp();
  acquireAll();
  pass(1_000);
  for (const cooldownMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    // Those that were under way together count once.
    const [one, other] = [limiter.acquire('bank'), limiter.acquire('bank')];
    one?.({ answered: false });
    other?.({ answered: false });
    pass(cooldownMs - 1);
    expect(acquireAll()).toBe(0);
    pass(1);
    expect(limiter.hasCapacitySoon('bank')).toBe(true);
  }
  expect(acquireAll()).toBe(10);
  pass(1_000);
  limiter.acquire('bank')?.({ answered: false });
  pass(1_000);
  expect(acquireAll()).toBeGreaterThan(0);
});

test('a provider that nobody knows is never called', () => {
  expect(setUp().limiter.acquire('another')).toBeNull();
});

test('it is worth waiting where there are only too many, and not where a provider rests or nobody may', () => {
  const { limiter, acquireAll, pass, at } = setUp();
  acquireAll();
  expect(limiter.hasCapacitySoon('bank')).toBe(true);
  expect(limiter.hasCapacitySoon('unheard of')).toBe(false);
  pass(1_000);
  limiter.acquire('bank')?.({ answered: false });
  expect(limiter.hasCapacitySoon('bank')).toBe(false);
  pass(60_000);
  expect(limiter.hasCapacitySoon('bank')).toBe(true);
  at.workers = 0;
  expect(limiter.hasCapacitySoon('bank')).toBe(false);
});
