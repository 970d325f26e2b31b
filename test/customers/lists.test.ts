import fc from 'fast-check';
import { createCustomers } from '../../src/capabilities/customers/store.js';
import { customerRecordId, type Customer } from '../../src/capabilities/customers/record.js';
import type { ListCustomersQuery } from '../../src/capabilities/customers/schema.js';
import { newId } from '../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { keysReadBy } from '../support/keys-read.js';

const DAY_MS = 86_400_000;
const FIRST = Date.parse('2025-11-20T00:00:00Z');
const DAYS = 90;
const PER_DAY = 20;
const LAST = FIRST + (DAYS - 1) * DAY_MS;
/** Noon of the last day. */
const NOW = LAST + DAY_MS / 2;

let database: TestDatabase;
let now = NOW;
const tenantId = newId('tenant');

const customer = (at: Date, owner = tenantId): Customer => {
  const id = newId('customer');
  return {
    _id: customerRecordId(owner, id),
    tenant_id: owner,
    version: 1,
    customer_id: id,
    email: null,
    name: null,
    checks: {},
    kyc_statuses: ['not_started'],
    created_at: at,
    updated_at: at,
  };
};
const collection = () => database.db.collection<Customer>('customers');
const store = () => createCustomers(database, () => new Date(now));
const textOf = (at: number) => new Date(at).toISOString().slice(0, 10);

const query = (changes: Partial<ListCustomersQuery> = {}): ListCustomersQuery => ({
  page: 1,
  limit: 20,
  sort: '-created_at',
  ...changes,
});
const total = async (changes?: Partial<ListCustomersQuery>, owner = tenantId) =>
  (await store().list(owner, query(changes))).total;

beforeAll(async () => {
  database = await openTestDatabase();
  // The day before the last one has nobody.
  const times = Array.from({ length: DAYS * PER_DAY }, (_, i) => FIRST + (i / PER_DAY) * DAY_MS)
    .filter((at) => textOf(at) !== textOf(LAST - DAY_MS) && at < NOW)
    .map((at) => customer(new Date(at)));
  await collection().insertMany([...times, customer(new Date(FIRST), newId('tenant'))]);
});
beforeEach(() => {
  now = NOW;
});
afterAll(() => database.close());

test('the total of every range of days is exact, whichever days were counted before', async () => {
  const day = fc.option(fc.integer({ min: -2, max: DAYS + 2 }), { nil: undefined });
  const at = (index: number | undefined) =>
    index === undefined ? undefined : textOf(FIRST + index * DAY_MS);
  await fc.assert(
    fc.asyncProperty(day, day, fc.integer({ min: 0, max: DAYS }), async (from, until, later) => {
      now = NOW + later * (DAY_MS / 10);
      const [start_date, end_date] = [at(from), at(until)];
      const found = await total({
        ...(start_date !== undefined && { start_date }),
        ...(end_date !== undefined && { end_date }),
      });
      const created = {
        ...(start_date !== undefined && { $gte: new Date(start_date) }),
        ...(end_date !== undefined && { $lt: new Date(Date.parse(end_date) + DAY_MS) }),
      };
      const hasRange = Object.keys(created).length > 0;
      const filter = { tenant_id: tenantId, ...(hasRange && { created_at: created }) };
      expect(found).toBe((await collection().find(filter).toArray()).length);
    }),
    { numRuns: 60 },
  );
});

test('a customer counts at once, and in the day of its creation for ever', async () => {
  const owner = newId('tenant');
  await collection().insertOne(customer(new Date(NOW), owner));
  expect(await total({}, owner)).toBe(1);
  now = NOW + DAY_MS;
  await collection().insertOne(customer(new Date(now), owner));
  expect(await total({}, owner)).toBe(2);
  now = NOW + 40 * DAY_MS;
  expect(await total({}, owner)).toBe(2);
  expect(await total({ start_date: textOf(NOW), end_date: textOf(NOW) }, owner)).toBe(1);
});

test('a list reads its page and the customers of the present day, and none of earlier days', async () => {
  await total();
  const { result, keys } = await keysReadBy(database, 'customers', () =>
    store().list(tenantId, query()),
  );
  expect(result.total).toBe((DAYS - 1) * PER_DAY - PER_DAY / 2);
  expect(keys).toBeLessThanOrEqual(20 + PER_DAY);
});
