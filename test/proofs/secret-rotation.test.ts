import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import type { ManagedProcess } from '../support/processes.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { publicCharges, rollingRestarts, startClients } from '../support/rotation.js';
import { startService, type Api, type Service } from '../support/service.js';
import { apiClient, type TestTenant } from '../support/tenant.js';
import { sign } from '../../sandbox-bank/shared/signature.js';

const PEPPER = { earlier: randomBytes(32).toString('hex'), later: randomBytes(32).toString('hex') };
const BANK = { earlier: randomBytes(16).toString('hex'), later: randomBytes(16).toString('hex') };
/** The earlier secrets come first, then the later ones, and at last the earlier ones are gone. */
const FIRST = {
  BURSAR_KEY_PEPPER: `earlier:${PEPPER.earlier},later:${PEPPER.later}`,
  SANDBOX_BANK_SECRET: `${BANK.earlier},${BANK.later}`,
};
const SECOND = {
  BURSAR_KEY_PEPPER: `later:${PEPPER.later},earlier:${PEPPER.earlier}`,
  SANDBOX_BANK_SECRET: `${BANK.later},${BANK.earlier}`,
};
const LAST = {
  BURSAR_KEY_PEPPER: `later:${PEPPER.later}`,
  SANDBOX_BANK_SECRET: BANK.later,
};

let service: Service;
let tenant: TestTenant;
let receiver: Receiver;
/** The processes of the service, without the bank. Callbacks come to the first API's port. */
let rolling: ReturnType<typeof rollingRestarts>;
let bank: ManagedProcess;

beforeAll(async () => {
  service = await startService({ env: { ...FIRST, BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' } });
  const second = await service.newApi();
  await second.start();
  rolling = rollingRestarts(service, { first: service.api, second, worker: service.worker });
  bank = service.bank;
  // Its requests go on for as long as the exchange takes, however slow the machine is.
  tenant = await service.tenant({ balanceMinor: 100_000_000_000 });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** The same command with the settings that the processes have now. */
const command = async (line: string, settings: Record<string, string>) =>
  JSON.parse((await bursar(`${line} --json`, { ...service.env, ...settings })).out);

/** Seals a webhook secret as the releases before sealing keys did: under a key of the pepper. */
function sealedByPepper(secret: string, endpoint: string): string {
  const key = Buffer.from(hkdfSync('sha256', PEPPER.earlier, '', 'bursar webhook secrets', 32));
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(endpoint));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

/** The status of a callback that is signed with this secret. */
async function callback(api: Api, secret: string): Promise<number> {
  const body = '{}';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const { status } = await fetch(`${api.url}/api/v1/webhooks/payments/sandbox-bank`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-sandbox-bank-timestamp': timestamp,
      'x-sandbox-bank-signature': sign(secret, timestamp, body),
    },
    body,
  });
  return status;
}

test('pepper, bank secret and API key are exchanged while requests go on: none fails, what still needs an old value is named, and then it works no more', async () => {
  const idle = await service.deps.apiKeys.create({
    tenantId: tenant.id,
    level: 'read',
    kind: 'secret',
  });
  const endpoint = await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  if (!endpoint) throw new Error('there is no endpoint');
  await service.deps.database.db
    .collection<{ _id: string }>('webhook_endpoints')
    .updateOne(
      { _id: endpoint.id },
      { $set: { 'secrets.0.sealed': sealedByPepper(endpoint.secret, endpoint.id) } },
    );

  let key = tenant.key;
  // The bank itself restarts with its new secret, so nothing asks it for an answer at once.
  const charges = await publicCharges(service, tenant.id);
  const clients = startClients(rolling.apis, () => key, { beside: [charges.send] });
  /** Waits until each client has finished what it was at, and has done a whole round since. */
  const goOn = async () => {
    await clients.turnOver();
    await clients.turnOver();
  };
  /** Restarts every process with other settings, one after the other. */
  async function restart(settings: Record<string, string>): Promise<void> {
    await rolling.restart(settings, goOn);
    await bank.stop();
    bank = service.newBank({ SANDBOX_BANK_SECRET: settings['SANDBOX_BANK_SECRET'] ?? '' });
    await bank.start();
    await goOn();
  }

  await goOn();
  await restart(SECOND);
  const rotated = await command(
    `keys rotate ${(await service.deps.apiKeys.list(tenant.id))[0]?.id}`,
    SECOND,
  );
  key = rotated.key;
  await goOn();

  // The keys in use are under the later pepper now. The idle one cannot be: nobody has shown its text.
  const renewed = await eventually('keys in use are renewed', async () => {
    const report = await command('secrets rotate', SECOND);
    return report.retired.length === 0 ? report : undefined;
  });
  expect([renewed.ok, renewed.still_needed, renewed.unopened]).toEqual([false, ['earlier'], 0]);
  const rows = (await command('secrets list', SECOND)) as Record<string, unknown>[];
  const pepper = rows.find(({ secret, id }) => secret === 'BURSAR_KEY_PEPPER' && id === 'earlier');
  expect(pepper).toMatchObject({ is_first: false, collections: expect.stringMatching(/api_keys/) });
  expect(pepper?.['collections']).not.toContain('webhook_endpoints');
  expect(rows.filter(({ secret }) => secret === 'SANDBOX_BANK_SECRET').map(({ id }) => id)).toEqual(
    ['number 1', 'number 2'],
  );
  const checks = (await command('doctor', SECOND)) as { check: string; detail: string }[];
  const detailOf = (name: string) => checks.find(({ check }) => check === name)?.detail;
  expect(detailOf('key pepper')).toMatch(/[1-9]\d* under earlier/);
  expect(detailOf('provider secrets')).toMatch(/SANDBOX_BANK_SECRET number 2: 20/);
  expect(await callback(rolling.running().first, BANK.earlier)).toBe(200);

  await restart(LAST);
  await goOn();
  await clients.stop();
  expect(clients.failed).toEqual([]);

  // The old values work no more.
  const at = (token: string) =>
    apiClient(rolling.running().first.url, token).call('GET', '/balance', undefined);
  expect((await at(key)).status).toBe(200);
  expect((await at(idle.key)).body.error.code).toBe('unauthorized');
  expect(await callback(rolling.running().first, BANK.earlier)).toBe(401);
  expect(await callback(rolling.running().first, BANK.later)).toBe(200);
  const old = { authorization: `Bearer ${BANK.earlier}` };
  expect((await fetch(`${service.bank.url}/v1/banks`, { headers: old })).status).toBe(401);
  await command(`keys revoke ${(await service.deps.apiKeys.list(tenant.id))[0]?.id}`, LAST);
  expect((await at(tenant.key)).body.error.code).toBe('expired_key');
  const lacking = (await command('doctor', LAST)) as { check: string; ok: boolean }[];
  expect(lacking.find(({ check }) => check === 'key pepper')?.ok).toBe(false);

  // Nothing was lost: every transfer ends, and the secret of the endpoint signs on.
  expect(await charges.pay()).toBeGreaterThan(0);
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
  const before = receiver.received.length;
  await apiClient(rolling.running().first.url, key).transfer({
    ...clients.made[0]?.body,
    reference: 'last',
  });
  await eventually('a webhook after the rotation', () =>
    receiver.received.length > before ? true : undefined,
  );
});

test('another pepper under a known id is named by doctor', async () => {
  const other = { ...LAST, BURSAR_KEY_PEPPER: `later:${'x'.repeat(40)}` };
  const checks = (await command('doctor', other)) as {
    check: string;
    ok: boolean;
    detail: string;
  }[];
  expect(checks.find(({ check }) => check === 'key pepper')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('later'),
  });
});
