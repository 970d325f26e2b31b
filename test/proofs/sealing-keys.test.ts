import { randomBytes } from 'node:crypto';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { newCustomer, paymentClient } from '../support/payments.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { nameEnquiries, publicCharges, startClients } from '../support/rotation.js';
import { startService, type Api, type Service } from '../support/service.js';
import { apiClient, type TestTenant } from '../support/tenant.js';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const [earlier, later] = [key('earlier'), key('later')];
/** The first step: every process opens both keys, and seals under the earlier one. The second: under the later one. */
const [FIRST, SECOND] = [`${earlier},${later}`, `${later},${earlier}`];

let service: Service;
let tenant: TestTenant;
let receiver: Receiver;
/** Processes that have not been restarted with the later key yet. */
let old: { api: Api; worker: Service['worker'] };

beforeAll(async () => {
  const env = { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true', BURSAR_SEALING_KEYS: SECOND };
  service = await startService({ env });
  const first = { BURSAR_SEALING_KEYS: FIRST };
  old = { api: await service.newApi(first), worker: service.newWorker(first) };
  await Promise.all([old.api.start(), old.worker.start()]);
  tenant = await service.tenant();
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const raw = () => {
  const { client, db } = service.deps.database;
  return client.db(db.databaseName);
};

/** The number of values in the database that are sealed under a key. */
async function sealedUnder(id: string): Promise<number> {
  let found = 0;
  for (const { name } of await raw().listCollections().toArray()) {
    // Its hashes are marks of the keys themselves.
    if (name === 'sealing_keys') continue;
    for await (const document of raw().collection(name).find()) {
      found +=
        JSON.stringify(document, (_, value: unknown) =>
          typeof value === 'bigint' ? Number(value) : value,
        ).split(`"${id}.`).length - 1;
    }
  }
  return found;
}

type Rotated = {
  ok: boolean;
  resealed: number;
  unopened: number;
  retired: string[];
  still_needed: string[];
};
const rotate = async () =>
  JSON.parse((await bursar('secrets rotate --json', service.env)).out) as Rotated;

test('the sealing key is exchanged while requests go on: none fails, nothing stays under the old key, and then it may be removed', async () => {
  // An endpoint and a token that nobody touches during the exchange.
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  const payments = paymentClient(tenant);
  const bank = { customer: newCustomer(), account_number: '0690000031', bank_code: '058' };
  const { call } = apiClient(old.api.url, tenant.key);
  const token = await call('POST', '/payments/tokens/bank-account', JSON.stringify(bank));
  expect(token.status).toBe(201);

  let apis: readonly Api[] = [old.api, service.api];
  const charges = await publicCharges(service, tenant.id);
  const beside = [charges.send, nameEnquiries(() => tenant.key)];
  const clients = startClients(
    () => apis,
    () => tenant.key,
    { beside },
  );
  await eventually('both APIs have accepted transfers', () =>
    clients.made.length >= 20 ? true : undefined,
  );
  expect(await sealedUnder('earlier')).toBeGreaterThan(0);
  const early = await rotate();
  expect([early.ok, early.retired, early.still_needed]).toEqual([false, [], ['earlier']]);

  // The key is still needed, so a process without it does not start.
  const without = await service.newApi({ BURSAR_SEALING_KEYS: later });
  await expect(without.start()).rejects.toThrow();
  expect(service.logs()).toContain('BURSAR_SEALING_KEYS lacks the key earlier');

  apis = [service.api];
  // Then no request is under way at the old API.
  await clients.turnOver();
  await Promise.all([old.api.stop(), old.worker.stop()]);
  const rotated = await eventually('the key is retired', async () => {
    const report = await rotate();
    return report.ok ? report : undefined;
  });
  expect([rotated.retired, rotated.unopened]).toEqual([['earlier'], 0]);
  expect(await sealedUnder('earlier')).toBe(0);
  await clients.stop();
  expect(clients.failed).toEqual([]);
  expect(await charges.pay()).toBeGreaterThan(0);
  await service.allEnded();

  const after = await service.newApi({ BURSAR_SEALING_KEYS: later });
  await after.start();
  const reader = apiClient(after.url, tenant.key);
  for (const { id, key: idempotencyKey, body, text } of clients.made.slice(0, 30)) {
    const read = await reader.call('GET', `/transfers/${id}`, undefined);
    expect(read.body.data.recipient_account).toBe(body.recipient_account);
    expect((await reader.transfer(body, { key: idempotencyKey })).text).toBe(text);
  }
  expect(
    (
      await payments.call(
        'GET',
        `/payments/tokens/${(token.body.data as unknown as { payment_token_id: string }).payment_token_id}`,
      )
    ).status,
  ).toBe(200);
  expect(receiver.received.length).toBeGreaterThan(0);
});

test('a list with another key under a known id, and one that begins with a retired key, do not start', async () => {
  const other = await service.newApi({ BURSAR_SEALING_KEYS: key('later') });
  await expect(other.start()).rejects.toThrow();
  const retired = await service.newApi({ BURSAR_SEALING_KEYS: FIRST });
  await expect(retired.start()).rejects.toThrow();
  expect(service.logs()).toContain('has another key under the id later');
  expect(service.logs()).toContain('begins with the retired key earlier');
});
