import { eventually } from '../../support/eventually.js';
import {
  activeToken,
  chargeBody,
  acquirerEffects,
  onPage,
  paymentClient,
  type PaymentClient,
} from '../../support/payments.js';
import { startService, type Service } from '../../support/service.js';
import { apiClient } from '../../support/tenant.js';

/**
 * kill -9 at the worst moments, at an acquirer that executes a repeated request twice. Temporal times a dead worker's
 * activities out after 20 s, so one test has all cases.
 */
let service: Service;
let payments: PaymentClient;

beforeAll(async () => {
  // The worker waits for the acquirer's answer until it is killed.
  const env = { SANDBOX_BANK_TIMEOUT_MS: '10000' };
  service = await startService({ bank: { deduplicate: false, conclusiveAfterMs: 3_000 }, env });
  payments = paymentClient(await service.tenant());
});
afterAll(async () => {
  await service?.close();
});

test('a charge whose worker dies after the acquirer charged and before that is recorded is completed, and charged once', async () => {
  const { token, customer } = await activeToken(payments);
  const { payment_token_id } = token;
  const capture_mode = 'merchant_initiated';
  const fields = (suffix = '789') =>
    chargeBody(suffix, { capture_mode, payment_token_id, customer });
  const bodies: string[] = [];
  const charge = async (client: PaymentClient, suffix?: string) => {
    const { status, body } = await client.charge(fields(suffix));
    expect(status).toBe(201);
    bodies.push(body.data.reference);
    return body.data.reference;
  };

  // Charged without an answer: the worker is waiting for the answer when it dies.
  const silent = [await charge(payments, '004'), await charge(payments, '004')];
  for (const reference of silent) {
    await eventually('the network has charged', async () =>
      (await acquirerEffects(service, reference)).length > 0 ? true : undefined,
    );
    expect((await payments.get(reference)).status).toBe('processing');
  }

  // Charges in flight in every state, one with a page among them.
  const page = await payments.page();
  await service.bank.faults([
    { call: 'charge', kind: 'slow', probability: 0.4, ms: 700 },
    { call: 'charge', kind: 'drop_after', probability: 0.4 },
    { call: 'charge', kind: 'error_500', probability: 0.1 },
  ]);
  await Promise.all(Array.from({ length: 16 }, () => charge(payments)));
  await eventually('the network is in the middle of it', async () =>
    (await service.bank.journal()).length >= 6 ? true : undefined,
  );
  await service.worker.kill();
  await onPage(page.url);

  // A charge accepted by an API that cannot start workflows and dies is started by the worker's dispatcher.
  const temporal = `127.0.0.1:${await service.deadPort()}`;
  const api = await service.newApi({ TEMPORAL_ADDRESS: temporal });
  await api.start();
  const { key } = await service.deps.apiKeys.create({
    tenantId: String(
      (await service.deps.charges.store.latest({ attention: false, limit: 1 }))[0]?.tenant_id,
    ),
    level: 'write',
    kind: 'secret',
  });
  const other = paymentClient(apiClient(api.url, key));
  for (let i = 0; i < 4; i += 1) await charge(other);
  await api.kill();
  await service.worker.start();

  for (const reference of [...bodies, page.reference]) {
    await payments.waitFor(reference, 'completed');
    const effects = await acquirerEffects(service, reference);
    expect(effects.map(({ kind }) => kind)).toEqual(['charged']);
  }
  expect(await service.problems()).toEqual([]);
});
