import {
  createCallRates,
  type CallKind,
  type CallRates,
} from '../../../src/core/providers/call-rates.js';
import { observed } from '../../../src/core/providers/observed.js';
import { questionsOf } from '../../../src/platform/temporal/queues.js';
import { answersNoted } from '../../../worker/answers-noted.js';
import { createCallSlots } from '../../../worker/call-slots.js';

const RATE = 40;
/** The most calls that a provider of this rate gets at once after a pause. */
const SAVED = RATE / 2;

/** A clock that the test sets, and a bank with bulk transfers. */
function setUp({ workers = 1, rate = RATE } = {}) {
  const at = { ms: 0, workers };
  const rates = createCallRates({
    limits: [{ name: 'bank', callsPerSecond: rate, bulkTransfersOf: 'bank' }],
    workers: () => at.workers,
    now: () => at.ms,
  });
  /** The calls of streams that always have one waiting, for this long; the first of the kinds asks last. */
  function streams(kinds: CallKind[], ms: number): Record<string, number> {
    const counts = Object.fromEntries(kinds.map((kind) => [kind, 0]));
    for (const end = at.ms + ms; at.ms < end; at.ms += 5) {
      for (const kind of kinds.toReversed()) {
        while (rates.take('bank', kind)) counts[kind] = (counts[kind] ?? 0) + 1;
      }
    }
    return counts;
  }
  return { rates, at, streams };
}

const KINDS: CallKind[] = ['first', 'queued', 'bulk'];

test.each(KINDS)('a lone stream of %s calls uses the whole rate, and no more', (kind) => {
  const { streams } = setUp();
  streams([kind], 2_000);
  const { [kind]: calls } = streams([kind], 10_000);
  expect(calls).toBeGreaterThanOrEqual(10 * RATE - 2);
  expect(calls).toBeLessThanOrEqual(10 * RATE + 2);
});

test('streams of all kinds together keep the rate, and each has at least its share', () => {
  const { streams } = setUp();
  streams(KINDS, 2_000);
  const { first = 0, queued = 0, bulk = 0 } = streams(KINDS, 10_000);
  expect(first + queued + bulk).toBeLessThanOrEqual(10 * RATE + 3);
  expect(first).toBeGreaterThanOrEqual(0.25 * 10 * RATE - 1);
  expect(queued).toBeGreaterThanOrEqual(0.2 * 10 * RATE - 1);
  expect(bulk).toBeGreaterThanOrEqual(0.5 * 10 * RATE - 1);
});

test('beside a bulk transfer and polls that take all they can, a first submission finds a call at once', () => {
  const { rates, streams } = setUp();
  for (let second = 0; second < 20; second += 1) {
    streams(['queued', 'bulk'], 1_000);
    expect(rates.take('bank', 'first')).toBe(true);
    expect(rates.take('bank', 'first')).toBe(true);
  }
});

test('a pause of hours saves up less than a second of the rate, over all kinds', () => {
  const { at, streams } = setUp();
  at.ms += 3_600_000;
  const at0 = streams(KINDS, 5);
  expect(Object.values(at0).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(SAVED);
});

test('processes divide the rate, also one below a call per second', () => {
  const { streams } = setUp({ workers: 5, rate: 2 });
  streams(['queued'], 10_000);
  const { queued = 0 } = streams(['queued'], 100_000);
  expect(queued).toBeGreaterThanOrEqual(39);
  expect(queued).toBeLessThanOrEqual(41);
});

test('no call is allowed before the number of processes is known; a number that is lost counts on', () => {
  const { rates, at } = setUp({ workers: 0 });
  at.ms += 10_000;
  expect(rates.take('bank', 'queued')).toBe(false);
  at.workers = 1;
  rates.take('bank', 'queued');
  at.ms += 10_000;
  at.workers = 0;
  expect(rates.take('bank', 'queued')).toBe(true);
  expect(rates.take('another', 'queued')).toBe(false);
});

test('a provider without usable answers gets single calls with growing pauses, and all of its rate after the first answer', () => {
  const { rates, at, streams } = setUp();
  at.ms += 1_000;
  for (let failed = 0; failed < 4; failed += 1) rates.answered('bank', false);
  rates.answered('bank', true);
  for (let failed = 0; failed < 4; failed += 1) rates.answered('bank', false);
  expect(rates.take('bank', 'queued')).toBe(true);
  rates.answered('bank', false);
  // Many kinds wait, and nothing answers: a few calls a minute are left.
  const { first = 0, queued = 0, bulk = 0 } = streams(KINDS, 60_000);
  expect(first + queued + bulk).toBeGreaterThanOrEqual(10);
  expect(first + queued + bulk).toBeLessThanOrEqual(20);
  rates.answered('bank', true);
  streams(['queued'], 1_000);
  expect(streams(['queued'], 10_000)['queued']).toBeGreaterThanOrEqual(10 * RATE - 2);
});

test('activities that fail before their call hold back no other call, also while the provider is down', async () => {
  const { rates, at } = setUp();
  at.ms += 1_000;
  const { inbound } = answersNoted('bank', rates)({} as never);
  const execute = (next: () => Promise<unknown>) =>
    inbound?.execute?.({ args: [], headers: {} }, next);
  const fails = () => Promise.reject(new Error('no such transfer'));
  for (let failed = 0; failed < 20; failed += 1) {
    rates.spend('bank', 'queued');
    await expect(execute(fails)).rejects.toThrow('no such transfer');
    at.ms += 1_000 / RATE;
  }
  at.ms += 1_000;
  expect([rates.take('bank', 'queued'), rates.take('bank', 'queued')]).toEqual([true, true]);
  for (let silent = 0; silent < 5; silent += 1) {
    await execute(() => Promise.resolve({ kind: 'unknown' }));
  }
  at.ms += 60_000;
  expect(rates.take('bank', 'queued')).toBe(true);
  expect(rates.take('bank', 'queued')).toBe(false);
  await expect(execute(fails)).rejects.toThrow('no such transfer');
  expect(rates.take('bank', 'queued')).toBe(true);
});

/** Each call of `execute` takes a turn. The provider is silent to all of them until `answer` is a usable one. */
async function expectOneCallPerPause(
  rates: CallRates,
  at: { ms: number },
  answer: { kind: string },
  execute: () => Promise<void>,
): Promise<void> {
  at.ms += 1_000;
  for (let silent = 0; silent < 5; silent += 1) await execute();
  at.ms += 60_000;
  await execute();
  expect(rates.take('bank', 'queued')).toBe(false);
  at.ms += 60_000;
  answer.kind = 'pending';
  await execute();
  at.ms += 1_000;
  expect([rates.take('bank', 'queued'), rates.take('bank', 'queued')]).toEqual([true, true]);
}

test('a commit that fails after a silent call frees no call to a provider that is down, and one after an answer ends that', async () => {
  const { rates, at } = setUp();
  const { inbound } = answersNoted('bank', rates)({} as never);
  const answer = { kind: 'unknown', reason: 'timeout' };
  const bank = observed(
    { name: 'bank', verify: async () => ({ ...answer }) },
    'transfers',
    () => 0,
  );
  /** An activity whose commit fails after the call. */
  const execute = async () => {
    expect(rates.take('bank', 'queued')).toBe(true);
    const next = async () => {
      await bank.verify();
      throw new Error('no primary');
    };
    await expect(inbound?.execute?.({ args: [], headers: {} }, next)).rejects.toThrow('no primary');
  };
  await expectOneCallPerPause(rates, at, answer, execute);
});

test.each([
  ['a poll of a monitored record, which calls no operator', { kind: 'pending', monitored: true }],
  ['a preparation, after which nothing is submitted', { kind: 'unsent' }],
])('a provider that is silent to %s, is called once per pause', async (_, result) => {
  const { rates, at } = setUp();
  const { inbound } = answersNoted('bank', rates)({} as never);
  const answer = { kind: 'unknown', reason: 'timeout' };
  const bank = observed({ name: 'bank', ask: async () => ({ ...answer }) }, 'transfers', () => 0);
  const execute = async () => {
    expect(rates.take('bank', 'queued')).toBe(true);
    const next = async () => {
      await bank.ask();
      return result;
    };
    expect(await inbound?.execute?.({ args: [], headers: {} }, next)).toEqual(result);
  };
  await expectOneCallPerPause(rates, at, answer, execute);
});

test('a call that waits gives up in time, and stops waiting when it is cancelled', async () => {
  const rates = createCallRates({
    limits: [{ name: 'bank', callsPerSecond: 0.001, bulkTransfersOf: 'bank' }],
    workers: () => 1,
  });
  const { signal } = new AbortController();
  expect(await rates.takeWithin('bank', 'bulk', 50, signal)).toBe(false);
  const aborted = AbortSignal.timeout(50);
  await expect(rates.takeWithin('bank', 'bulk', 60_000, aborted)).rejects.toThrow();
});

/** Ports of one provider that share a rate, of which the first has bulk transfers. */
function sharing() {
  const at = { ms: 0 };
  const rates = createCallRates({
    limits: ['transfers', 'payments', 'accounts', 'identity'].map((name) => ({
      name,
      callsPerSecond: RATE,
      bulkTransfersOf: name === 'transfers' ? 'bank' : null,
      bucket: 'bank/shared',
    })),
    workers: () => 1,
    now: () => at.ms,
  });
  /** The calls of streams that always have one waiting, for this long; the first of them asks first. */
  function streams(of: readonly (readonly [name: string, kind: CallKind])[], ms: number): number[] {
    const counts = of.map(() => 0);
    for (const end = at.ms + ms; at.ms < end; at.ms += 5) {
      for (const [i, [name, kind]] of of.entries()) {
        while (rates.take(name, kind)) counts[i] = (counts[i] ?? 0) + 1;
      }
    }
    return counts;
  }
  return { rates, at, streams };
}
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

test('ports that share a rate keep it together, and one alone has all of it', () => {
  const { streams } = sharing();
  const all = ['transfers', 'payments', 'accounts'].map((name) => [name, 'queued'] as const);
  streams(all, 2_000);
  for (const streaming of [all, all.slice(1, 2), [['transfers', 'bulk'] as const]]) {
    streams(streaming, 2_000);
    const calls = sum(streams(streaming, 10_000));
    expect(calls).toBeGreaterThanOrEqual(10 * RATE - 2);
    expect(calls).toBeLessThanOrEqual(10 * RATE + 2);
  }
});

test('beside a bulk transfer and its polls, the queue of each other port has its part of the shared rate', () => {
  const { streams } = sharing();
  const of = [
    ['transfers', 'bulk'],
    ['transfers', 'queued'],
    ['payments', 'queued'],
    ['accounts', 'queued'],
    ['identity', 'queued'],
  ] as const;
  streams(of, 2_000);
  const [bulk = 0, , ...others] = streams(of, 10_000);
  for (const queued of others) {
    expect(queued).toBeGreaterThanOrEqual((0.75 / 4) * 10 * RATE - 2);
    expect(queued).toBeGreaterThan(bulk);
  }
});

test('beside a bulk transfer, a queue gets what the other ports do not use', () => {
  const { streams } = sharing();
  const of = [
    ['transfers', 'bulk'],
    ['payments', 'queued'],
  ] as const;
  streams(of, 2_000);
  const [bulk = 0, queued = 0] = streams(of, 10_000);
  expect(bulk).toBeLessThanOrEqual((0.5 / 4) * 10 * RATE + 2);
  expect(queued).toBeGreaterThanOrEqual(0.85 * 10 * RATE);
});

test('of ports that share a rate, only the one that is silent is down', () => {
  const { rates, at } = sharing();
  at.ms += 1_000;
  for (let silent = 0; silent < 5; silent += 1) {
    rates.answered('transfers', false);
    rates.answered('payments', true);
  }
  expect(rates.isAllowed('transfers', 'queued')).toBe(false);
  expect(rates.isAllowed('payments', 'queued')).toBe(true);
  rates.answered('transfers', true);
  for (let silent = 0; silent < 5; silent += 1) rates.answered('identity', false);
  expect(rates.isAllowed('identity', 'queued')).toBe(false);
  expect(rates.isAllowed('transfers', 'queued')).toBe(true);
});

const QUESTIONS = questionsOf('transfers');

/** A port that counts submissions apart, and another port that shares the rate of its other calls. */
function apart() {
  const at = { ms: 0 };
  const shared = { callsPerSecond: RATE / 2, bucket: 'bank/shared' };
  const submissions = { callsPerSecond: RATE, bucket: 'bank/submissions' };
  const rates = createCallRates({
    limits: [
      { name: 'transfers', bulkTransfersOf: 'bank', ...shared, submissions },
      { name: 'payments', bulkTransfersOf: null, ...shared },
    ],
    workers: () => 1,
    now: () => at.ms,
  });
  return { rates, at };
}

test('submissions that are counted apart have their rate whatever the port’s other calls use, and the other way round', () => {
  const { rates, at } = apart();
  const counts = { submissions: 0, questions: 0, payments: 0 };
  for (const end = 12_000; at.ms < end; at.ms += 5) {
    if (at.ms === 2_000) Object.assign(counts, { submissions: 0, questions: 0, payments: 0 });
    while (rates.take('transfers', 'bulk')) counts.submissions += 1;
    while (rates.take(QUESTIONS, 'queued')) counts.questions += 1;
    while (rates.take('payments', 'queued')) counts.payments += 1;
  }
  expect(Math.abs(counts.submissions - 10 * RATE)).toBeLessThanOrEqual(2);
  expect(Math.abs(counts.questions + counts.payments - 10 * (RATE / 2))).toBeLessThanOrEqual(2);
});

test('a port that counts submissions apart has one breaker; the preparation of a submission that it lets through is made', async () => {
  const { rates, at } = apart();
  at.ms += 1_000;
  for (let silent = 0; silent < 5; silent += 1) {
    rates.answered(silent % 2 === 0 ? QUESTIONS : 'transfers', false);
  }
  at.ms += 60_000;
  expect(rates.take('transfers', 'queued')).toBe(true);
  expect(rates.take(QUESTIONS, 'queued')).toBe(false);
  const { signal } = new AbortController();
  expect(await rates.takeMore(QUESTIONS, ['first', 'queued'], 0, signal)).toBe(true);
  at.ms += 60_000;
  expect(rates.take(QUESTIONS, 'queued')).toBe(true);
  expect(rates.take('transfers', 'queued')).toBe(false);
});

test('a preparation has no more calls than questions have, and waits no longer than it may', async () => {
  const { rates, at } = apart();
  at.ms += 60_000;
  const { signal } = new AbortController();
  const prepare = () => rates.takeMore(QUESTIONS, ['first', 'queued'], 0, signal);
  let prepared = 0;
  while (await prepare()) prepared += 1;
  expect(prepared).toBeGreaterThan(0);
  expect(prepared).toBeLessThanOrEqual(RATE / 4);
  expect(rates.take(QUESTIONS, 'queued')).toBe(false);
  expect(rates.take('transfers', 'queued')).toBe(true);
});

test('a worker takes a task while both kinds of calls are left, and each task counts against its own rate', async () => {
  const { rates, at } = apart();
  at.ms += 60_000;
  const slots = createCallSlots({ name: 'transfers', rates, most: 1_000 });
  const { signal } = new AbortController();
  const reserve = () => slots.reserveSlot({} as never, signal);
  const begin = async (activityType: string) => {
    const permit = await reserve();
    const slotInfo = { type: 'activity', activityType } as const;
    slots.markSlotUsed({ slotInfo, permit });
    slots.releaseSlot({ slotInfo, permit });
  };
  // More questions than submissions have calls left: they take none of these.
  const left = () => [rates.isAllowed('transfers', 'queued'), rates.isAllowed(QUESTIONS, 'queued')];
  while (rates.isAllowed(QUESTIONS, 'queued')) await begin('verifyTransfer');
  expect(left()).toEqual([true, false]);
  at.ms += 60_000;
  while (rates.isAllowed('transfers', 'queued')) await begin('submitTransfer');
  expect(left()).toEqual([false, true]);
});
