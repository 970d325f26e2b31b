import {
  activeToken,
  FEE_MINOR,
  onPage,
  paymentClient,
  chargeOrder,
  type PaymentClient,
} from '../support/payments.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant({ balanceMinor: 0 });
  payments = paymentClient(tenant);
});
afterAll(async () => {
  await service?.close();
});

test('smoke', async () => {
  const { reference, url } = await payments.page();
  await onPage(url);
  const charge = await payments.waitFor(reference, 'completed');
  expect(charge).toMatchObject({ status: 'completed', next_action: null });
  expect(await tenant.balance()).toEqual({ available: 300_000 - FEE_MINOR, held: 0 });
  const { token, customer } = await activeToken(payments);
  const reply = await payments.charge(
    chargeOrder('789', {
      capture_mode: 'merchant_initiated',
      payment_token_id: token.payment_token_id,
      customer,
    }),
    { headers: { prefer: 'wait=10' } },
  );
  console.log(reply.text, await payments.timeline(reply.body.data.reference));
  console.log(await payments.timeline(reference));
});
