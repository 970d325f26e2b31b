import { createLeasedWork, leasesCollection } from '../../../src/platform/database/lease.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** The work of one process, which counts how often it was done. */
function processOf(name: string, everyMs: number) {
  const done = { times: 0 };
  const leased = createLeasedWork(database.db, { name, everyMs });
  const once = () => {
    done.times += 1;
    return Promise.resolve(false);
  };
  return { done, leased, work: () => leased(once) };
}

test('of many processes that begin at once one does the work, and none again before its time', async () => {
  const all = Array.from({ length: 10 }, () => processOf('once', HOUR_MS));
  for (let i = 0; i < 3; i += 1) await Promise.all(all.map(({ work }) => work()));
  expect(all.reduce((sum, { done }) => sum + done.times, 0)).toBe(1);
});

test('while one process does the work, no other one begins it, and more work is due at once', async () => {
  const [one, other] = [processOf('long', HOUR_MS), processOf('long', HOUR_MS)];
  const more = await one.leased(async () => {
    await other.work();
    return true;
  });
  expect([more, other.done.times]).toEqual([true, 0]);
  await other.work();
  expect(other.done.times).toBe(1);
});

test('work gets the time of the server, whatever the clock of its process says', async () => {
  const { leased } = processOf('timed', HOUR_MS);
  const clock = Date.now;
  const times: number[] = [];
  Date.now = () => clock() + 48 * HOUR_MS;
  try {
    await leased((now) => Promise.resolve(times.push(now.getTime()) > 1));
  } finally {
    Date.now = clock;
  }
  expect(Math.abs(Number(times[0]) - clock())).toBeLessThan(HOUR_MS);
});

test('work that fails is due again after its time, for every process', async () => {
  const [one, other] = [processOf('failing', 1), processOf('failing', 1)];
  await expect(one.leased(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  await eventually('another process does it', async () => {
    await other.work();
    return other.done.times > 0 ? true : undefined;
  });
});

test('a process that died during the work keeps it from the others until its lease is over', async () => {
  const leases = database.db.collection<{ _id: string; until: Date }>(leasesCollection.name);
  await leases.insertOne({ _id: 'dead', until: new Date(Date.now() + HOUR_MS) });
  const other = processOf('dead', HOUR_MS);
  await other.work();
  expect(other.done.times).toBe(0);
  await leases.updateOne({ _id: 'dead' }, { $set: { until: new Date(0) } });
  await other.work();
  expect(other.done.times).toBe(1);
});
