import { eventually } from '../../support/eventually.js';
import { submitsLocally } from '../../support/local-submission.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/** The bank pays a repeated request twice. */
let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ bank: { deduplicate: false, conclusiveAfterMs: 3_000 } });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
});

test('a transfer whose worker dies during a local submission is verified before it is submitted again, and paid once', async () => {
  await submitsLocally(service, tenant);
  await service.bank.faults([{ call: 'submit', kind: 'slow', probability: 1, ms: 900 }]);
  const ids = await Promise.all(Array.from({ length: 8 }, () => tenant.send()));
  await eventually('some were paid and not booked', async () =>
    (await service.bank.journal(ids[0])).length > 0 ? true : undefined,
  );
  await service.worker.kill();
  await service.bank.faults([]);
  await service.worker.start();
  for (const id of ids) {
    await tenant.waitFor(id, 'completed');
    expect((await service.bank.journal(id)).map(({ kind }) => kind)).toEqual(['paid']);
  }
  expect(await service.problems()).toEqual([]);
});
