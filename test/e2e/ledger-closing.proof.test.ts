import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({
    oneProcess: true,
    env: { BURSAR_LEDGER_CLOSING_EVERY_MS: '2000' },
  });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
});

test('a Schedule closes the days that are over, and payments go on', async () => {
  const { db } = service.deps.database;
  const id = await tenant.send('000');
  await tenant.waitFor(id, 'completed');
  const before = await tenant.balance();
  await db
    .collection('postings')
    .updateMany({}, [{ $set: { at: { $subtract: ['$at', 3 * DAY_MS] } } }]);
  const days = db.collection('ledger_days');
  await eventually('the day is closed', async () =>
    (await days.countDocuments({ tenant_id: tenant.id })) === 1 ? true : undefined,
  );
  expect(await tenant.balance()).toEqual(before);
  const later = await tenant.send('000');
  await tenant.waitFor(later, 'completed');
  expect(await service.problems()).toEqual([]);
});
