import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { recordsSince } from '../../../src/core/reconciliation/pages.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { NOW, pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('a position in a tenant that is not listed any more goes on with the tenants after it, from their beginning', async () => {
  const collection = database.db.collection<Transfer>('transfers');
  const tenants = ['ten_a', 'ten_c', 'ten_d'];
  await collection.insertMany(
    tenants.map((tenant) =>
      pendingTransfer({ _id: `trf_${tenant}`, tenant_id: tenant, created_at: NOW }),
    ),
  );
  const until = new Date(NOW.getTime() + 1_000).toISOString();
  const after = { id: 'trf_z', createdAt: until };
  const read = async (tenant: string) => {
    const ids: string[] = [];
    const from = { tenant, after, until };
    for await (const page of recordsSince(collection, { since: NOW, tenants }, from)) {
      ids.push(...page.records.map(({ _id }) => _id));
    }
    return ids;
  };
  expect(await read('ten_b')).toEqual(['trf_ten_c', 'trf_ten_d']);
  expect(await read('ten_z')).toEqual([]);
});
