import { Registry } from 'prom-client';
import { MAX_STALL_TIMEOUTS, STALLED, stallsOf } from '../../../src/core/supervision/stalls.js';
import {
  claimsOf,
  supervised,
  type Supervised,
} from '../../../src/core/supervision/supervision.js';
import { measureClaims } from '../../../src/platform/metrics/claims.js';
import { createLog } from '../../../src/shared/log.js';
import { linesInto } from '../../support/log-lines.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { createDispatcher } from '../../../worker/dispatcher.js';

const STALL_TIMEOUT_MS = 30_000;
const HOUR_MS = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const records = () => database.db.collection<Supervised>('claimed_records');
const idsOf = (found: readonly Supervised[]) => found.map(({ _id }) => _id);

/** The claims of one process whose clock is ahead by `aheadMs`. */
const processAt = (aheadMs = 0) =>
  claimsOf(records(), {
    clock: () => new Date(Date.now() + aheadMs),
    stallTimeoutMs: STALL_TIMEOUT_MS,
  });

async function dueRecords(count: number): Promise<string[]> {
  await records().deleteMany({});
  const due = Array.from({ length: count }, (_, i) => ({
    _id: `r${String(i).padStart(4, '0')}`,
    next_check_at: new Date(Date.now() - 60_000 + i),
  }));
  await records().insertMany(due);
  return idsOf(due);
}

test('ten processes claim each due record exactly once', async () => {
  const all = await dueRecords(1_000);
  const claimAll = async () => {
    const claims = processAt();
    const mine: string[] = [];
    for (let page = await claims.claimDue(50); page.more || page.claimed.length > 0;) {
      mine.push(...idsOf(page.claimed));
      page = await claims.claimDue(50);
    }
    return mine;
  };
  const claimed = (await Promise.all(Array.from({ length: 10 }, claimAll))).flat();
  expect(claimed.toSorted()).toEqual(all);
});

test('the oldest records are claimed first', async () => {
  const [first, second] = await dueRecords(3);
  const { claimed, more } = await processAt().claimDue(2);
  expect([idsOf(claimed), more]).toEqual([[first, second], true]);
});

test('the records of a process that died are due again when its claim is over', async () => {
  const all = await dueRecords(3);
  await processAt().claimDue(10);
  expect((await processAt().claimDue(10)).claimed).toEqual([]);
  expect((await processAt(STALL_TIMEOUT_MS - 5_000).claimDue(10)).claimed).toEqual([]);
  expect(idsOf((await processAt(STALL_TIMEOUT_MS + 1_000).claimDue(10)).claimed)).toEqual(all);
});

test('a worker counts the records that it claims, the claims that had run out, and those that it gives back', async () => {
  await dueRecords(3);
  const longAgo = new Date(Date.now() - 2 * HOUR_MS);
  await records().updateMany({}, { $set: { next_check_at: longAgo } });
  // By a process that died an hour ago.
  expect((await processAt(-HOUR_MS).claimDue(1)).claimed).toHaveLength(1);
  const registry = new Registry();
  const observe = measureClaims(registry, ['claimed_records', 'others']);
  const store = {
    ...processAt(),
    rescheduleCheck: () => Promise.reject(new Error('nothing was started')),
    raiseStalled: () => Promise.reject(new Error('this is no watchdog')),
    clearStalled: () => Promise.reject(new Error('this is no watchdog')),
  };
  const claimed_records = supervised(store, {
    start() {
      loop.stop();
      return Promise.reject(temporalIsAway());
    },
  });
  const log = createLog({ level: 'silent', name: 'test' });
  const loop = createDispatcher({ claimed_records }, log, observe);
  await loop.run();
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('bursar'));
  expect(lines).toEqual([
    'bursar_claims_total{collection="claimed_records"} 3',
    'bursar_claims_total{collection="others"} 0',
    'bursar_claims_expired_total{collection="claimed_records"} 1',
    'bursar_claims_expired_total{collection="others"} 0',
    'bursar_claims_released_total{collection="claimed_records"} 3',
    'bursar_claims_released_total{collection="others"} 0',
  ]);
});

/** A Temporal that is away, as a start sees it. */
const temporalIsAway = () =>
  Object.assign(new Error('away'), { code: 14, details: '', metadata: {} });

test('the watchdog finds records that one dispatcher after the other claims while Temporal hangs', async () => {
  const all = await dueRecords(3);
  const longAgo = new Date(Date.now() - 2 * MAX_STALL_TIMEOUTS * STALL_TIMEOUT_MS);
  const waiting = { next_check_at: longAgo, created_at: longAgo, attention: null };
  await records().updateMany({}, { $set: waiting });
  const rules = { acceptedField: 'created_at', open: {} };
  const watchdog = stallsOf(records(), rules, { stallTimeoutMs: STALL_TIMEOUT_MS });
  const log = createLog({ level: 'silent', name: 'test' });
  const raised: number[] = [];
  for (let i = 0; i < 2; i += 1) {
    let looks: Promise<void> | null = null;
    const hanging = supervised(dispatchedStore(), {
      async start() {
        loop.stop();
        // All of them are claimed now.
        await (looks ??= watchdog.raiseStalled(0).then((found) => void raised.push(found.raised)));
        throw temporalIsAway();
      },
    });
    const loop = createDispatcher({ transfers: hanging }, log);
    await loop.run();
  }
  expect(raised).toEqual([all.length, 0]);
  const found = await records().find().toArray();
  expect(found).toEqual(
    found.map(({ _id }) =>
      expect.objectContaining({
        _id,
        attention: expect.objectContaining({ reason: STALLED }) as unknown,
        stalled: expect.objectContaining({ since: longAgo }) as unknown,
        next_check_at: longAgo,
      }),
    ),
  );
  expect(await watchdog.clearStalled()).toBe(false);
  expect(await records().countDocuments({ 'stalled.since': longAgo })).toBe(all.length);
});

test('a dispatcher claims few records at a time while Temporal is away, and full pages after it', async () => {
  const all = await dueRecords(500);
  const claimed: number[] = [];
  let starts = 0;
  const own = dispatchedStore();
  const store = {
    ...own,
    async claimDue(limit: number) {
      const page = await own.claimDue(limit);
      claimed.push(page.claimed.length);
      if (page.claimed.length === 0) loop.stop();
      return page;
    },
    rescheduleCheck: () => Promise.resolve(),
  };
  const transfers = supervised(store, {
    async start() {
      starts += 1;
      if (claimed.length < 3) throw temporalIsAway();
    },
  });
  const loop = createDispatcher({ transfers }, createLog({ level: 'silent', name: 'test' }));
  await loop.run();
  expect(claimed).toEqual([200, 20, 20, 200, 200, 80, 0]);
  expect(starts).toBeGreaterThanOrEqual(all.length);
});

/** The claims of a process as a dispatcher has them, which is no watchdog. */
const dispatchedStore = () => ({
  ...processAt(),
  rescheduleCheck: () => Promise.resolve(),
  raiseStalled: () => Promise.reject(new Error('this is no watchdog')),
  clearStalled: () => Promise.reject(new Error('this is no watchdog')),
});

test('a start that fails by itself is logged with the record, its tenant and its workflow', async () => {
  await dueRecords(1);
  await records().updateMany({}, { $set: { tenant_id: 'ten_a' } });
  const transfers = supervised(dispatchedStore(), {
    start() {
      loop.stop();
      return Promise.reject(new Error('its input cannot be made'));
    },
  });
  const lines: string[] = [];
  const log = createLog({ level: 'error', name: 'test', destination: linesInto(lines) });
  const loop = createDispatcher({ transfers }, log);
  await loop.run();
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ resource: 'r0000', tenant: 'ten_a', workflow_id: 'transfer/r0000' }),
  ]);
});

test('records that are given back are due as before, but for those that changed meanwhile', async () => {
  const [first, ...others] = await dueRecords(3);
  const before = await records().find().toArray();
  const { claimed } = await processAt().claimDue(10);
  const later = new Date(Date.now() + 3_600_000);
  await records().updateOne({ _id: String(first) }, { $set: { next_check_at: later } });
  await processAt().releaseClaim(claimed);
  const rest = await records()
    .find({ _id: { $in: others } })
    .toArray();
  expect(rest).toEqual(before.filter(({ _id }) => _id !== first));
  expect(idsOf((await processAt().claimDue(10)).claimed)).toEqual(others);
  expect((await records().findOne({ _id: String(first) }))?.next_check_at).toEqual(later);
});

describe('a record that the validator of its collection refuses', () => {
  const validate = (validator: object) =>
    database.db.command({ collMod: 'claimed_records', validator });
  afterEach(() => validate({}));

  test('keeps no other from being claimed and given back, is named, and takes no place in the next pages', async () => {
    const [refused, ...others] = await dueRecords(5);
    await validate({ _id: { $ne: refused } });
    const claims = processAt();
    const first = await claims.claimDue(3);
    expect([idsOf(first.claimed), first.refused]).toEqual([
      others.slice(0, 2),
      [{ _id: refused, tenant_id: null }],
    ]);
    expect(await claims.claimDue(2)).toMatchObject({
      claimed: others.slice(2).map((_id) => ({ _id })),
    });
    expect((await claims.claimDue(2)).claimed).toEqual([]);

    await validate({ _id: { $ne: others[0] } });
    await claims.releaseClaim(first.claimed);
    const again = await processAt(STALL_TIMEOUT_MS + 1_000).claimDue(10);
    expect(idsOf(again.claimed)).toEqual([refused, ...others.slice(1)]);
  });

  test('is logged with its tenant and its workflow, and the dispatcher starts the others', async () => {
    const [refused, ...others] = await dueRecords(3);
    await records().updateMany({}, { $set: { tenant_id: 'ten_a' } });
    await validate({ _id: { $ne: refused } });
    const started: string[] = [];
    const transfers = supervised(dispatchedStore(), {
      start({ _id }) {
        loop.stop();
        started.push(_id);
        return Promise.resolve();
      },
    });
    const lines: string[] = [];
    const log = createLog({ level: 'error', name: 'test', destination: linesInto(lines) });
    const loop = createDispatcher({ transfers }, log);
    await loop.run();
    expect(started.toSorted()).toEqual(others);
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({
        resource: refused,
        tenant: 'ten_a',
        workflow_id: `transfer/${refused}`,
      }),
    ]);
  });
});
