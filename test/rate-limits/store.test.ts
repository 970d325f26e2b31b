import { MongoClient } from 'mongodb';
import { createMongoClient } from '../../src/database/client.js';
import { createLog } from '../../src/log.js';
import { createRateLimits } from '../../src/rate-limits/store.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

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
/** Counters are written without waiting for a majority, so they are read without one. */
const windows = () =>
  database.db.collection<WindowDocument>('rate_limits', { readConcern: { level: 'local' } });
/** A busy test machine is not what the 50 ms are about. */
const limiter = () => createRateLimits({ db: database.db, log, answerWithinMs: 30_000 });

/** A moment that is not about to cross into the next window in the middle of a test. */
async function settle(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 5_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 100));
}

/** As if so many windows had gone by since the last attempt. */
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
beforeEach(settle, 70_000);

test('of 500 attempts at once from two instances exactly the allowance passes', async () => {
  const id = newSubject();
  const other = createMongoClient(database.uri, 'other');
  const a = limiter();
  const b = createRateLimits({ db: other.db(database.name), log, answerWithinMs: 30_000 });
  const results = await Promise.all(
    Array.from({ length: 500 }, (_, i) => (i % 2 ? a : b).take(id, SANDBOX)),
  );
  const allowed = results.filter((result) => result.allowed);
  expect(allowed).toHaveLength(150);
  // Everyone has a place of its own, counted down to nothing.
  const remaining = allowed.map((result) => result.remaining).sort((x, y) => x - y);
  expect(remaining).toEqual(Array.from({ length: 150 }, (_, i) => i));
  await Promise.all([a.idle(), b.idle()]);
  await other.close();
});

test('all that wait for one subject share a few updates', async () => {
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

test('a subject does not touch another', async () => {
  const [a, b] = [newSubject(), newSubject()];
  expect(await passed(a, 200)).toBe(150);
  expect(await passed(b, 150)).toBe(150);
});

test('after a burst the next window has the rate, and after a quiet one the burst again', async () => {
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

test('refused attempts count: hammering never earns a burst', async () => {
  const id = newSubject();
  for (const expected of [150, 100, 100]) {
    expect(await passed(id, 300)).toBe(expected);
    await shiftBack(id, 1);
  }
});

test('the headers speak of the present window in the time of the database', async () => {
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

test('who has used up the window is refused without the database, until it ends or the plan changes', async () => {
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

test('a counter that does not answer, or fails, lets the request pass', async () => {
  // Nothing listens there: every operation hangs until the driver gives up.
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

test('a counter is housekept by its expiry', async () => {
  const id = newSubject();
  await limiter().take(id, SANDBOX);
  const document = await windows().findOne({ _id: id });
  // It has to outlive the window after its own, which asks for its count.
  const livesMs = (document?.expires_at.getTime() ?? 0) - (document?.window.getTime() ?? 0);
  expect(livesMs).toBeGreaterThan(120_000);
});
