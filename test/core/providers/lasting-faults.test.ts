import { createProviderFaults } from '../../../src/core/providers/faults.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const START = Date.parse('2026-11-28T09:00:00.000Z');

let database: TestDatabase;
let now = START;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('a fault and a word that are met again last since the first time, and a float is short for the smallest amount', async () => {
  const { db } = database;
  const log = createLog({ level: 'silent', name: 'test' });
  const faults = createProviderFaults({ db, log, clock: () => new Date(now) });
  const meet = async (minute: number, neededMinor: bigint) => {
    now = START + minute * 60_000;
    await faults.report('bank', 'float', neededMinor);
    await faults.reportWord('bank', 'in_review');
  };
  await meet(0, 300n);
  await meet(1, 200n);
  await meet(2, 400n);
  const [first, last] = [new Date(START), new Date(now)];
  expect(await faults.list()).toMatchObject([
    { name: 'float', since: first, last_seen_at: last, needed_minor: 200n },
    { name: 'in_review', since: first, last_seen_at: last },
  ]);
  await faults.end('bank', 'float');
  await meet(3, 500n);
  expect(await faults.list()).toMatchObject([
    { name: 'in_review', since: first },
    { name: 'float', since: new Date(now), needed_minor: 500n },
  ]);
});
