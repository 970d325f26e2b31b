import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ bank: { deduplicate: false, conclusiveAfterMs: 1_000 } });
});
afterAll(async () => {
  await service?.close();
});

test('a transfer that the bank acknowledged and no longer finds gets attention, is not submitted again, and completes once the bank finds it', async () => {
  const tenant = await service.tenant({ balanceMinor: 1_000_000 });
  const id = await tenant.send('006');
  const records = service.deps.database.db.collection<Transfer>('transfers');
  const record = () => records.findOne({ _id: id });
  await eventually('the acknowledgement is stored', async () =>
    (await record())?.acknowledged_at ? true : undefined,
  );
  await service.bank.failOver([id], 600_000);
  await eventually('an operator is called', async () =>
    (await record())?.attention?.reason.includes('had acknowledged') ? true : undefined,
  );
  const polls = Number((await record())?.polls);
  await eventually('the bank is asked again', async () =>
    Number((await record())?.polls) > polls + 2 ? true : undefined,
  );
  expect(await record()).toMatchObject({ status: 'processing', submissions: 1 });
  await service.bank.failOver([], 1);
  await service.bank.decideTransfer(id, 'paid');
  await tenant.waitFor(id, 'completed');
  expect(await service.bank.journal(id)).toHaveLength(1);
  expect(await service.problems()).toEqual([]);
});
