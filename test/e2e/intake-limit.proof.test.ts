import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

const MAX_OPEN = 10;

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({
    oneProcess: true,
    env: { BURSAR_MAX_OPEN_TRANSFERS: String(MAX_OPEN) },
  });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
});

test('while too many transfers are open, new ones are refused with Retry-After and nothing is held; intake opens again', async () => {
  const key = 'accepted before';
  const body = JSON.stringify(transferBody('006'));
  const headers = { 'content-type': 'application/json' };
  const first = await tenant.call('POST', '/transfers', body, { key, headers });
  expect(first.status).toBe(201);
  const open = [first.body.data.id];
  const refused = await eventually('intake is closed', async () => {
    const reply = await tenant.transfer(transferBody('006'));
    if (reply.status === 201) open.push(reply.body.data.id);
    return reply.status === 503 ? reply : undefined;
  });
  expect(open.length).toBeGreaterThanOrEqual(MAX_OPEN);
  expect(refused.body.error).toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('Nothing was accepted'),
  });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  const before = await tenant.balance();
  const bulk = await tenant.call(
    'POST',
    '/transfers/bulk',
    JSON.stringify({ transfers: [transferBody()] }),
    { headers },
  );
  expect([bulk.status, (await tenant.transfer(transferBody())).status]).toEqual([503, 503]);
  expect(await tenant.balance()).toEqual(before);

  // A repeat of an accepted request gets its saved response.
  const again = await tenant.call('POST', '/transfers', body, { key, headers });
  expect([again.status, again.body.data?.id ?? again.body.error]).toEqual([201, open[0]]);

  for (const id of open) await service.bank.decideTransfer(id, 'paid');
  for (const id of open) await tenant.waitFor(id, 'completed');
  await eventually('intake is open', async () =>
    (await tenant.transfer(transferBody())).status === 201 ? true : undefined,
  );
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
