import { createDeliveries, toOutgoing } from '../../../src/core/webhooks/deliveries.js';
import { newId } from '../../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { keysReadBy } from '../../support/keys-read.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('a list of the events of one name reads no event of another name, for the page and for the total', async () => {
  const deliveries = createDeliveries(database);
  const names = Array.from({ length: 200 }, (_, i) =>
    i % 50 === 0 ? 'charge.completed' : 'transfer.completed',
  );
  await deliveries.insert(
    names.map((name, i) => {
      const at = new Date(Date.UTC(2026, 10, 1 + Math.floor(i / 50)));
      const draft = {
        tenantId: 'ten_a',
        resource: newId('charge'),
        name,
        sequence: 1,
        at,
        data: {},
      };
      return toOutgoing(draft, [{ id: newId('webhookEndpoint') }], at);
    }),
  );
  const list = (from?: Date) =>
    deliveries.listEvents('ten_a', {
      page: 1,
      limit: 2,
      name: 'charge.completed',
      from,
      until: undefined,
    });
  expect(await list()).toMatchObject({ total: 4, items: [{ name: 'charge.completed' }, {}] });
  expect((await list(new Date(Date.UTC(2026, 10, 3)))).total).toBe(2);
  const { keys } = await keysReadBy(database, 'webhook_events', () => list());
  expect(keys).toBeLessThan(20);
});
