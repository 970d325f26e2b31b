import { Registry } from 'prom-client';
import { measureMoney } from '../../../src/composition/money-metrics.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const log = createLog({ level: 'silent', name: 'test' });
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('a scrape has the money that is held by age, and the unknown outcomes with the age of the oldest', async () => {
  let references = 0;
  const insert = (name: string, records: object[]) =>
    database.db.collection(name).insertMany(
      records.map((record) => ({
        tenant_id: 'ten_a',
        reference: `${(references += 1)}`,
        ...record,
      })),
      { bypassDocumentValidation: true },
    );
  const due = { next_check_at: new Date(), created_at: ago(1) };
  const submitted = { ...due, status: 'processing', first_submitted_at: ago(30) };
  await insert('transfers', [
    { ...submitted, total_minor: 1_000n },
    { ...submitted, total_minor: 200n, created_at: ago(7_200), first_submitted_at: ago(7_100) },
    { ...due, status: 'pending', first_submitted_at: null, total_minor: 30n },
    // Ended with attention: its money is not held any more.
    { ...due, status: 'failed', first_submitted_at: ago(30), total_minor: 5_000n },
    { status: 'completed', next_check_at: null, created_at: ago(1), total_minor: 7_000n },
  ]);
  await insert('card_authorizations', [
    { ...due, held_minor: 400n, status: 'approved', created_at: ago(90_000) },
  ]);
  await insert('card_operations', [
    { ...submitted, type: 'fund', amount_minor: 60n, card_id: 'crd_a' },
    { ...submitted, type: 'lock', amount_minor: null, card_id: 'crd_a' },
  ]);
  await insert('refunds', [
    { ...submitted, charge_id: 'chg_a', made_by: 'tenant', amount_minor: 90n },
    { ...submitted, charge_id: 'chg_a', made_by: 'operator', amount_minor: 8_000n },
  ]);
  const registry = new Registry();
  measureMoney(registry, { db: database.db, log });
  const text = await registry.metrics();
  for (const line of [
    'bursar_held_kobo{collection="transfers",age="under_1m"} 1030',
    'bursar_held_kobo{collection="transfers",age="under_1d"} 200',
    'bursar_held_kobo{collection="transfers",age="over_1d"} 0',
    'bursar_held_kobo{collection="card_authorizations",age="over_1d"} 400',
    'bursar_held_kobo{collection="card_operations",age="under_1m"} 60',
    'bursar_held_kobo{collection="refunds",age="under_1m"} 90',
    'bursar_unknown_outcomes{collection="transfers"} 2',
    'bursar_unknown_outcomes{collection="card_operations"} 2',
    'bursar_unknown_outcomes{collection="charges"} 0',
    'bursar_unknown_outcome_oldest_seconds{collection="charges"} 0',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  const [, age] = /unknown_outcome_oldest_seconds\{collection="transfers"\} (\d+)/.exec(text) ?? [];
  expect(Number(age)).toBeGreaterThanOrEqual(7_100);
});
