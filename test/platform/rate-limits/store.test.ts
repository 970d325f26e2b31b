import { MongoClient } from 'mongodb';
import { createMongoClient } from '../../../src/platform/database/client.js';
import { createLog } from '../../../src/shared/log.js';
import { createRateLimits } from '../../../src/platform/rate-limits/store.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const log = createLog({ level: 'silent', name: 'test' });
const SANDBOX = { rate: 100, burst: 150 };
let database: TestDatabase;
let subject = 0;
const newSubject = () => `ten_${(subject += 1)}`;

type WindowDocument = {
  _id: string;
  window: Date;
  count: number;
  previous: number;
  expires_at: Date;
};
/** Counters are written with w: 1, so they are read with a local read concern. */
const windows = () =>
  database.db.collection<WindowDocument>('rate_limits', { readConcern: { level: 'local' } });
/** The default of 50 ms would fail on a busy test machine. */
const limiter = () => createRateLimits({ db: database.db, log, answerWithinMs: 30_000 });

/** Waits until the current window has enough time left for a test. */
async function avoidWindowEnd(neededMs = 15_000): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < neededMs) await new Promise((resolve) => setTimeout(resolve, leftMs + 100));
}

/** Moves the counter back, as if this number of windows had passed since the last attempt. */
async function shiftBack(id: string, windowCount: number): Promise<void> {
  await windows().updateOne({ _id: id }, [
    { $set: { window: { $subtract: ['$window', windowCount * 60_000] } } },
  ]);
}

async function passed(id: string, attempts: number, limits = limiter()): Promise<number> {
  const results = await Promise.all(
    Array.from({ length: attempts }, () => limits.take(id, SANDBOX)),
  );
  return results.filter((result) => result.allowed).length;
}

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => avoidWindowEnd(), 70_000);

test('of 500 concurrent attempts in two processes exactly the allowance passes', async () => {
  const id = newSubject();
  const other = createMongoClient(database.uri, 'other');
  const a = limiter();
  const b = createRateLimits({ db: other.db(database.name), log, answerWithinMs: 30_000 });
  const results = await Promise.all(
    Array.from({ length: 500 }, (_, i) => (i % 2 ? a : b).take(id, SANDBOX)),
  );
  const allowed = results.filter((result) => result.allowed);
  expect(allowed).toHaveLength(150);
  // Each attempt has a position of its own, down to zero remaining.
  const remaining = allowed.map((result) => result.remaining).sort((x, y) => x - y);
  expect(remaining).toEqual(Array.from({ length: 150 }, (_, i) => i));
  await Promise.all([a.idle(), b.idle()]);
  await other.close();
});

test('attempts that wait for one subject share a few updates', async () => {
  const id = newSubject();
  const client = new MongoClient(database.uri, { monitorCommands: true });
  const commands: string[] = [];
  client.on('commandStarted', (event) => commands.push(event.commandName));
  const limits = createRateLimits({
    db: client.db(database.name),
    log,
    answerWithinMs: 30_000,
  });
  await limits.take(id, SANDBOX);
  await Promise.all(
    Array.from({ length: 1_000 }, () => limits.take(id, { rate: 1e6, burst: 1e6 })),
  );
  const updates = commands.filter((name) => name === 'findAndModify').length;
  expect(updates).toBeGreaterThan(1);
  expect(updates).toBeLessThan(10);
  expect((await windows().findOne({ _id: id }))?.count).toBe(1_001);
  await client.close();
});

/** Large enough for attempts to pass before they are counted, ten at a time. */
const LARGE = { rate: 10_000, burst: 10_000 };

test('far from the limit attempts pass before they are counted; each has a position and all are counted', async () => {
  const id = newSubject();
  const watched = new MongoClient(database.uri, { monitorCommands: true });
  let updates = 0;
  watched.on(
    'commandStarted',
    (event) => (updates += Number(event.commandName === 'findAndModify')),
  );
  const limits = createRateLimits({ db: watched.db(database.name), log, answerWithinMs: 30_000 });
  for (let place = 1; place <= 200; place += 1) {
    expect((await limits.take(id, LARGE)).remaining).toBe(10_000 - place);
  }
  await limits.idle();
  expect((await windows().findOne({ _id: id }))?.count).toBe(200);
  expect(updates).toBeLessThan(150);
  await watched.close();
});

test('one process admits exactly the allowance; each further process adds at most a thousandth', async () => {
  await avoidWindowEnd(30_000);
  const [alone, shared] = [newSubject(), newSubject()];
  const count = async (id: string, instances: ReturnType<typeof limiter>[]) => {
    let allowed = 0;
    for (let round = 0; round < 6; round += 1) {
      const results = await Promise.all(
        Array.from({ length: 2_000 }, (_, i) =>
          (instances[i % instances.length] as ReturnType<typeof limiter>).take(id, LARGE),
        ),
      );
      allowed += results.filter((result) => result.allowed).length;
    }
    await Promise.all(instances.map((each) => each.idle()));
    return allowed;
  };
  expect(await count(alone, [limiter()])).toBe(10_000);
  const together = await count(shared, [limiter(), limiter(), limiter()]);
  expect(together).toBeGreaterThanOrEqual(10_000);
  expect(together).toBeLessThanOrEqual(10_020);
});

test('after a failed count attempts wait to be counted again', async () => {
  const id = newSubject();
  const client = createMongoClient(database.uri, 'to be closed');
  const limits = createRateLimits({ db: client.db(database.name), log, answerWithinMs: 30_000 });
  expect((await limits.take(id, LARGE)).remaining).toBe(9_999);
  await client.close();
  const results = [await limits.take(id, LARGE)];
  await limits.idle();
  results.push(await limits.take(id, LARGE));
  // The second passed uncounted; the third had to wait, and passed because the counter failed.
  expect(results.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 9_998],
    [true, 10_000],
  ]);
});

test('attempts of one subject do not count for another', async () => {
  const [a, b] = [newSubject(), newSubject()];
  expect(await passed(a, 200)).toBe(150);
  expect(await passed(b, 150)).toBe(150);
});

test('the window after a burst has the rate, and the one after a window within the rate has the burst again', async () => {
  const id = newSubject();
  expect(await passed(id, 160)).toBe(150);
  await shiftBack(id, 1);
  expect(await passed(id, 120)).toBe(100);
  await shiftBack(id, 1);
  expect(await passed(id, 90)).toBe(90);
  await shiftBack(id, 1);
  expect(await passed(id, 160)).toBe(150);
  await shiftBack(id, 2);
  expect(await passed(id, 160)).toBe(150);
});

test('refused attempts count, so a caller above its rate never gets a burst', async () => {
  const id = newSubject();
  for (const expected of [150, 100, 100]) {
    expect(await passed(id, 300)).toBe(expected);
    await shiftBack(id, 1);
  }
});

test('the rate-limit headers describe the current window in the database’s time', async () => {
  const limits = limiter();
  const id = newSubject();
  const result = await limits.take(id, SANDBOX);
  expect(result).toMatchObject({ allowed: true, limit: 150, remaining: 149 });
  expect(result.resetAt % 60).toBe(0);
  const untilReset = result.resetAt - Date.now() / 1000;
  expect(untilReset).toBeGreaterThan(0);
  expect(untilReset).toBeLessThanOrEqual(60);
  expect(Math.abs(result.retryAfterSeconds - untilReset)).toBeLessThan(2);
});

test('a subject that has used up its window is refused without the database until the window ends or the plan changes', async () => {
  const id = newSubject();
  const limits = limiter();
  expect(await passed(id, 151, limits)).toBe(150);
  const before = await windows().findOne({ _id: id });
  const refused = await limits.take(id, SANDBOX);
  expect(refused).toMatchObject({ allowed: false, limit: 150, remaining: 0 });
  expect(refused.retryAfterSeconds).toBeGreaterThan(0);
  expect(await windows().findOne({ _id: id })).toEqual(before);
  const upgraded = await limits.take(id, { rate: 1_000, burst: 1_500 });
  expect(upgraded).toMatchObject({ allowed: true, limit: 1_500 });
});

test('a request passes when the counter fails or does not answer', async () => {
  // No server listens on this port, so every operation hangs until the driver times out.
  const away = createMongoClient('mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=400', 'away');
  const limits = createRateLimits({ db: away.db('nowhere'), log });
  const results = await Promise.all(
    Array.from({ length: 50 }, () => limits.take('ten_x', { rate: 1, burst: 1 })),
  );
  expect(results.every((result) => result.allowed)).toBe(true);
  await limits.idle();
  await away.close();
  const broken = createRateLimits({ db: away.db('nowhere'), log, answerWithinMs: 30_000 });
  expect((await broken.take('ten_x', SANDBOX)).allowed).toBe(true);
});

test('rate-limit counters expire by themselves', async () => {
  const id = newSubject();
  await limiter().take(id, SANDBOX);
  const document = await windows().findOne({ _id: id });
  // The counter must outlive the next window, which reads its count.
  const livesMs = (document?.expires_at.getTime() ?? 0) - (document?.window.getTime() ?? 0);
  expect(livesMs).toBeGreaterThan(120_000);
});
