import { createLocalSubmissionLimiter } from '../../../src/core/instructions/local-submission-limiter.js';
import { MAX_WORKFLOW_TASKS } from '../../../worker/worker.js';

/** A call whose workflow task waits for it alone, and one of a micro-batch. */
const OWN = { ownTask: true };
const BATCHED = { ownTask: false };

/** A clock that the test sets, and one provider with 40 calls per second, of which 10 may be local. */
function setUp(workers = 1) {
  const at = { ms: 0, workers };
  const limiter = createLocalSubmissionLimiter({
    providers: [{ name: 'bank', callsPerSecond: 40 }],
    workers: () => at.workers,
    now: () => at.ms,
  });
  /** Acquires and finishes until a call is refused. */
  const acquireAll = (most = 1_000): number => {
    for (let count = 0; count < most; count += 1) {
      const finish = limiter.acquire('bank', OWN);
      if (!finish) return count;
      finish({ answered: true });
    }
    return most;
  };
  const pass = (ms: number) => void (at.ms += ms);
  return { limiter, acquireAll, pass, at };
}

test('local calls in any second stay within their share of the rate', () => {
  const { acquireAll, pass } = setUp();
  acquireAll();
  pass(1_000);
  expect(acquireAll()).toBe(10);
  pass(500);
  expect(acquireAll()).toBe(5);
  pass(60_000);
  expect(acquireAll()).toBe(10);
});

test('processes divide the share, and while their number is unknown no local call is allowed', () => {
  const { acquireAll, pass, at } = setUp(5);
  acquireAll();
  pass(1_000);
  expect(acquireAll()).toBe(2);
  at.workers = 0;
  pass(1_000);
  expect(acquireAll()).toBe(0);
});

test('the calls in flight to a hanging provider are bounded, and other providers go on', () => {
  const at = { ms: 0 };
  const limiter = createLocalSubmissionLimiter({
    providers: ['slow', 'fast'].map((name) => ({ name, callsPerSecond: 100_000 })),
    workers: () => 1,
    now: () => at.ms,
  });
  limiter.acquire('slow', OWN);
  at.ms += 1_000;
  let inside = 0;
  while (inside < 1_000 && limiter.acquire('slow', OWN)) inside += 1;
  expect(inside).toBeLessThanOrEqual(20);
  limiter.acquire('fast', OWN);
  at.ms += 1_000;
  expect(limiter.acquire('fast', OWN)).not.toBeNull();
});

test.each([
  ['silent', { answered: false }, 0],
  ['slow', { answered: true }, 1_500],
])('a provider that was %s is left to its queue for a while, then tried again', (_, answer, ms) => {
  const { limiter, acquireAll, pass } = setUp();
  acquireAll();
  pass(1_000);
  const finish = limiter.acquire('bank', OWN);
  pass(ms);
  finish?.(answer);
  expect(acquireAll()).toBe(0);
  pass(900);
  expect(acquireAll()).toBe(0);
  pass(200);
  expect(acquireAll()).toBeGreaterThan(0);
});

test('all providers that hang together get fewer calls than a process has workflow tasks', () => {
  const at = { ms: 0 };
  const names = ['one', 'two', 'three', 'four'];
  const limiter = createLocalSubmissionLimiter({
    providers: names.map((name) => ({ name, callsPerSecond: 100_000 })),
    workers: () => 1,
    now: () => at.ms,
  });
  for (const name of names) limiter.acquire(name, OWN)?.({ answered: true });
  at.ms += 1_000;
  let inside = 0;
  for (const name of names) {
    for (let finish = limiter.acquire(name, OWN); finish; finish = limiter.acquire(name, OWN))
      inside += 1;
  }
  expect(inside).toBeGreaterThan(20);
  expect(inside).toBeLessThan(MAX_WORKFLOW_TASKS);
});

test('calls of micro-batches share workflow tasks, so more of them may be in flight, up to a bound', () => {
  const at = { ms: 0 };
  const limiter = createLocalSubmissionLimiter({
    providers: [{ name: 'slow', callsPerSecond: 100_000 }],
    workers: () => 1,
    now: () => at.ms,
  });
  limiter.acquire('slow', BATCHED)?.({ answered: true });
  at.ms += 1_000;
  while (limiter.acquire('slow', OWN));
  let inside = 0;
  while (inside < 1_000 && limiter.acquire('slow', BATCHED)) inside += 1;
  expect(inside).toBeGreaterThan(0);
  expect(inside).toBeLessThanOrEqual(50);
  expect(limiter.acquire('slow', OWN)).toBeNull();
});

test('the cooldown doubles each time in a row, up to ten seconds; one good answer resets it', () => {
  const { limiter, acquireAll, pass } = setUp();
  acquireAll();
  pass(1_000);
  for (const cooldownMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    // Calls that were in flight together count once.
    const [one, other] = [limiter.acquire('bank', OWN), limiter.acquire('bank', OWN)];
    one?.({ answered: false });
    other?.({ answered: false });
    pass(cooldownMs - 1);
    expect(acquireAll()).toBe(0);
    pass(1);
    expect(limiter.hasCapacitySoon('bank')).toBe(true);
  }
  expect(acquireAll()).toBe(10);
  pass(1_000);
  limiter.acquire('bank', OWN)?.({ answered: false });
  pass(1_000);
  expect(acquireAll()).toBeGreaterThan(0);
});

test('an unknown provider is never called', () => {
  expect(setUp().limiter.acquire('another', OWN)).toBeNull();
});

test('capacity returns soon after too many calls, and not during a cooldown or while the number of processes is unknown', () => {
  const { limiter, acquireAll, pass, at } = setUp();
  acquireAll();
  expect(limiter.hasCapacitySoon('bank')).toBe(true);
  expect(limiter.hasCapacitySoon('unheard of')).toBe(false);
  pass(1_000);
  limiter.acquire('bank', OWN)?.({ answered: false });
  expect(limiter.hasCapacitySoon('bank')).toBe(false);
  pass(60_000);
  expect(limiter.hasCapacitySoon('bank')).toBe(true);
  at.workers = 0;
  expect(limiter.hasCapacitySoon('bank')).toBe(false);
});
