import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { setupWorkflowId } from '../../src/capabilities/payment-tokens/record.js';
import { privateTemporal } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import {
  activeToken,
  chargeBody,
  onPage,
  paymentClient,
  type PaymentClient,
  type TokenView,
} from '../support/payments.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let temporal: Awaited<ReturnType<typeof privateTemporal>>;
let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  // A history counts as long after 200 events, where the default is 4,096.
  temporal = await privateTemporal(['limit.historyCount.suggestContinueAsNew=200']);
  // "Not found" proves absence after two seconds at this bank.
  service = await startService({
    temporalAddress: temporal.address,
    bank: { deduplicate: false, conclusiveAfterMs: 2_000 },
    env: { SANDBOX_BANK_TIMEOUT_MS: '1500' },
  });
  tenant = await service.tenant({ balanceMinor: 0 });
  payments = paymentClient(tenant);
});
afterAll(async () => {
  await service?.close();
  await temporal?.remove();
});
afterEach(() => service?.bank.faults([]));

test('a charge whose token is deleted after a submission that was never executed fails with token_revoked once that is proven', async () => {
  const { token } = await activeToken(payments);
  const { payment_token_id } = token;
  const { customer: _, ...rest } = chargeBody('789', { capture_mode: 'merchant_initiated' });
  const body = { ...rest, payment_token_id };
  const charge = () => service.deps.charges.store.byReference(tenant.id, body.reference);
  await service.bank.faults([{ call: 'charge', kind: 'drop_before', probability: 1 }]);
  await payments.charge(body);
  await eventually('it is submitted', async () =>
    Number((await charge())?.submissions) >= 1 ? true : undefined,
  );
  await payments.call('DELETE', `/payments/tokens/${payment_token_id}`);
  const refused = await eventually('nothing more is submitted', async () => {
    const found = await charge();
    return found && found.rejected_submissions > 0 ? found : undefined;
  });
  expect(refused.status).toBe('processing');
  await service.bank.faults([]);
  const failed = await payments.waitFor(body.reference, 'failed');
  expect(failed.failure?.code).toBe('token_revoked');
  const kinds = (await service.bank.journal()).filter(({ reference }) =>
    reference.startsWith(`${refused._id}-`),
  );
  expect(kinds).toEqual([]);
  expect(await tenant.balance()).toMatchObject({ held: 0 });
});

test('a set-up whose history has become long goes on as a new run, and its token is bound', async () => {
  const { payment_token_id: id } = await payments.token();
  const get = async () =>
    (await payments.call<TokenView>('GET', `/payments/tokens/${id}`)).body.data;
  await payments.call('POST', `/payments/tokens/${id}/setup`, {});
  const url = await eventually(
    'its page is open',
    async () => (await get()).setup?.next_action?.url,
  );
  const handle = service.deps.temporal.client.workflow.getHandle(setupWorkflowId(id));
  const { runId } = await handle.describe();
  await eventually('another run has begun', async () => {
    await Promise.all(Array.from({ length: 20 }, () => handle.signal('recordChanged')));
    const now = await handle.describe();
    return now.runId === runId ? undefined : true;
  });
  await onPage(url);
  await eventually('the token is active', async () =>
    (await get()).status === 'active' ? true : undefined,
  );
  await eventually('its workflow has ended', async () =>
    (await handle.describe()).status.name === 'COMPLETED' ? true : undefined,
  );
  const stored = await service.deps.database.db
    .collection<PaymentToken>('payment_tokens')
    .findOne({ _id: id });
  expect(stored).toMatchObject({ status: 'active', next_check_at: null });
});
