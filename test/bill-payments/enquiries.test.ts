import { billClient, billPaymentBody } from '../support/bill-payments.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

/** Requests of which a safeguard must refuse one. */
const MOST = 40;

let service: Service;
beforeAll(async () => {
  service = await shareService();
});
afterAll(async () => {
  await service?.close();
});

test('customers are validated as often as the safeguard of name enquiries allows, and then refused with the limit', async () => {
  const own = await service.tenant();
  await service.deps.tenants.update(own.id, { safeguards: { name_enquiry: 3 } });
  const { reference: _, amount_minor: __, ...customer } = billPaymentBody();
  const last = await inTries(
    MOST,
    () => own.call('POST', '/billpay/validate', JSON.stringify(customer)),
    ({ status }) => status === 429,
  );
  expect(last.status).toBe(429);
  expect(last.body.error).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { limit: 3, window: '1m' },
  });
  expect(last.headers.get('retry-after')).not.toBeNull();
});

/**
 * Sends requests until one has another result than those before it, or as many as the safeguard would never allow: a request
 * whose count takes too long passes uncounted.
 */
async function untilOther(send: () => Promise<string>): Promise<string[]> {
  const results = [await send()];
  while (results.length < MOST && results.at(-1) === results[0]) results.push(await send());
  return results;
}

describe('payments that tell whether a customer exists count against the same limit', () => {
  let sent = 0;
  const send = async (own: TestTenant, reference: string) => {
    const { body } = await billClient(own).pay({
      ...billPaymentBody(),
      customer_reference: reference,
    });
    return body.success ? 'accepted' : body.error.code;
  };

  test('beyond it nobody is told that there is no such customer', async () => {
    const own = await service.tenant();
    await service.deps.tenants.update(own.id, { safeguards: { name_enquiry: 1 } });
    const codes = await untilOther(() => send(own, `45030610${(sent += 1)}003`));
    expect([codes[0], codes.at(-1)]).toEqual(['invalid_account', 'accepted']);
  });

  test('refusals of an existing customer’s payment use it up, too', async () => {
    const own = await service.tenant({ balanceMinor: 0 });
    await service.deps.tenants.update(own.id, { safeguards: { name_enquiry: 1 } });
    const { reference: _, amount_minor: __, ...customer } = billPaymentBody();
    const results = await untilOther(async () => {
      expect(await send(own, customer.customer_reference)).toBe('insufficient_balance');
      const { status } = await own.call('POST', '/billpay/validate', JSON.stringify(customer));
      return String(status);
    });
    expect(results.at(-1)).toBe('429');
  });
});
