import { createLocalSubmissionLimiter } from '../../../src/core/instructions/local-submission-limiter.js';
import { createCallRates } from '../../../src/core/providers/call-rates.js';
import { MAX_WORKFLOW_TASKS } from '../../../worker/worker.js';

/** A call whose workflow task waits for it alone, and one of a micro-batch. */
const OWN = { ownTask: true };
const BATCHED = { ownTask: false };

/** A limiter of these providers, each with this rate. */
function limiterOf(
  names: string[],
  callsPerSecond: number,
  at: { ms: number; workers?: number },
): ReturnType<typeof createLocalSubmissionLimiter> {
  const now = () => at.ms;
  const limits = names.map((name) => ({ name, callsPerSecond, bulkTransfersOf: null }));
  const rates = createCallRates({ limits, workers: () => at.workers ?? 1, now });
  return createLocalSubmissionLimiter({ rates, now });
}

/** A clock that the test sets, and one provider with 40 calls per second. */
function setUp(workers = 1) {
  const at = { ms: 0, workers };
  const limiter = limiterOf(['bank'], 40, at);
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
  /** The calls of a stream that always has one waiting, for this long. */
  function stream(ms: number): number {
    let count = 0;
    for (const end = at.ms + ms; at.ms < end; pass(5)) count += acquireAll();
    return count;
  }
  return { limiter, acquireAll, pass, at, stream };
}

test('local calls alone use the whole rate and no more, and a pause saves up less than a second of it', () => {
  const { acquireAll, pass, stream } = setUp();
  stream(1_000);
  expect(stream(10_000)).toBeGreaterThanOrEqual(398);
  expect(stream(10_000)).toBeLessThanOrEqual(401);
  pass(60_000);
  expect(acquireAll()).toBeLessThan(20);
});

test('processes divide the rate, and while their number is unknown no local call is allowed', () => {
  const { acquireAll, pass, at, stream } = setUp(5);
  stream(1_000);
  expect(stream(10_000)).toBeLessThanOrEqual(81);
  at.workers = 0;
  pass(1_000);
  expect(acquireAll()).toBe(0);
});

test('the calls in flight to a hanging provider are bounded, and other providers go on', () => {
  const at = { ms: 0 };
  const limiter = limiterOf(['slow', 'fast'], 100_000, at);
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
  const limiter = limiterOf(names, 100_000, at);
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
  const limiter = limiterOf(['slow'], 100_000, at);
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
  expect(acquireAll()).toBeGreaterThan(1);
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
