import { createFirstTries } from '../../src/pursuits/first-try.js';
import { MAX_TURNS } from '../../worker/worker.js';

/** A clock that the test moves, and one provider that takes 40 calls a second: 10 of them from here. */
function setUp(workers = 1) {
  const at = { ms: 0, workers };
  const tries = createFirstTries({
    providers: [{ name: 'bank', callsPerSecond: 40 }],
    workers: () => at.workers,
    now: () => at.ms,
  });
  /** Enters and leaves at once, as often as it is let in. */
  const letIn = (most = 1_000): number => {
    for (let count = 0; count < most; count += 1) {
      const leave = tries.enter('bank');
      if (!leave) return count;
      leave({ answered: true });
    }
    return most;
  };
  const pass = (ms: number) => void (at.ms += ms);
  return { tries, letIn, pass, at };
}

test('in any second no more than the share of the rate goes out from here', () => {
  const { letIn, pass } = setUp();
  letIn();
  pass(1_000);
  expect(letIn()).toBe(10);
  pass(500);
  expect(letIn()).toBe(5);
  pass(60_000);
  expect(letIn()).toBe(10);
});

test('processes divide the share, and where nobody knows how many there are nothing goes out', () => {
  const { letIn, pass, at } = setUp(5);
  letIn();
  pass(1_000);
  expect(letIn()).toBe(2);
  at.workers = 0;
  pass(1_000);
  expect(letIn()).toBe(0);
});

test('a provider that hangs gets so many calls at once and no more, others go on', () => {
  const at = { ms: 0 };
  const tries = createFirstTries({
    providers: ['slow', 'fast'].map((name) => ({ name, callsPerSecond: 100_000 })),
    workers: () => 1,
    now: () => at.ms,
  });
  tries.enter('slow');
  at.ms += 1_000;
  let inside = 0;
  while (inside < 1_000 && tries.enter('slow')) inside += 1;
  expect(inside).toBeLessThanOrEqual(20);
  tries.enter('fast');
  at.ms += 1_000;
  expect(tries.enter('fast')).not.toBeNull();
});

test.each([
  ['silent', { answered: false }, 0],
  ['slow', { answered: true }, 1_500],
])('a provider that was %s is left to its queue for a while, then tried again', (_, answer, ms) => {
  const { tries, letIn, pass } = setUp();
  letIn();
  pass(1_000);
  const leave = tries.enter('bank');
  pass(ms);
  leave?.(answer);
  expect(letIn()).toBe(0);
  pass(900);
  expect(letIn()).toBe(0);
  pass(200);
  expect(letIn()).toBeGreaterThan(0);
});

test('several that hang at once together get fewer calls than a process has turns for workflows', () => {
  const at = { ms: 0 };
  const names = ['one', 'two', 'three', 'four'];
  const tries = createFirstTries({
    providers: names.map((name) => ({ name, callsPerSecond: 100_000 })),
    workers: () => 1,
    now: () => at.ms,
  });
  for (const name of names) tries.enter(name)?.({ answered: true });
  at.ms += 1_000;
  let inside = 0;
  for (const name of names) {
    for (let leave = tries.enter(name); leave; leave = tries.enter(name)) inside += 1;
  }
  expect(inside).toBeGreaterThan(20);
  expect(inside).toBeLessThan(MAX_TURNS);
});

test('each time in a row a provider is left alone for twice as long, up to ten seconds; one good answer ends that', () => {
  const { tries, letIn, pass } = setUp();
  letIn();
  pass(1_000);
  for (const restMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    // Those that were under way together count once.
    const [one, other] = [tries.enter('bank'), tries.enter('bank')];
    one?.({ answered: false });
    other?.({ answered: false });
    pass(restMs - 1);
    expect(letIn()).toBe(0);
    pass(1);
    expect(tries.hasRoomSoon('bank')).toBe(true);
  }
  expect(letIn()).toBe(10);
  pass(1_000);
  tries.enter('bank')?.({ answered: false });
  pass(1_000);
  expect(letIn()).toBeGreaterThan(0);
});

test('a provider that nobody knows is never called', () => {
  expect(setUp().tries.enter('another')).toBeNull();
});

test('it is worth waiting where there are only too many, and not where a provider rests or nobody may', () => {
  const { tries, letIn, pass, at } = setUp();
  letIn();
  expect(tries.hasRoomSoon('bank')).toBe(true);
  expect(tries.hasRoomSoon('unheard of')).toBe(false);
  pass(1_000);
  tries.enter('bank')?.({ answered: false });
  expect(tries.hasRoomSoon('bank')).toBe(false);
  pass(60_000);
  expect(tries.hasRoomSoon('bank')).toBe(true);
  at.workers = 0;
  expect(tries.hasRoomSoon('bank')).toBe(false);
});
