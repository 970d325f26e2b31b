import { createHash } from 'node:crypto';
import { billPaymentBody } from '../../support/bill-payments.js';
import { onPage, paymentClient } from '../../support/payments.js';
import { shareService, type Service } from '../../support/service.js';
import { untilTaken, type CallOptions, type TestTenant } from '../../support/tenant.js';

let service: Service;
let tenant: TestTenant;
beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
});
afterAll(() => service?.close());

const account = (digits: string) => ({ recipient_account: digits, recipient_bank_code: '058' });
const resolve = (body: Record<string, unknown>, options: CallOptions) =>
  tenant.call('POST', '/transfers/resolve-account', JSON.stringify(body), options);
/** The first request under a key, repeated after a 503: a busy machine may not answer at once. */
const firstOf = (body: Record<string, unknown>, key: string) =>
  untilTaken((options) => resolve(body, options), key);

/** The stored claim of a key, as the database has it: the service's own view opens what is sealed. */
async function storedClaim(key: string) {
  const { client, db } = service.deps.database;
  const keys = client
    .db(db.databaseName)
    .collection<{ _id: string; body: string; fingerprint: string }>('idempotency_keys');
  return keys.findOne({ _id: `${tenant.id}/secret/${key}` });
}

describe('a name enquiry with a key', () => {
  test('is answered again by the first answer, byte for byte, which says so', async () => {
    const first = await firstOf(account('0123456789'), 'enquiry-1');
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
    const again = await resolve({ ...account('0123456789'), idempotency_key: 'enquiry-1' }, {});
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.text).toBe(first.text);
  });

  test('is refused for another account, and for another request, with idempotency_key_reused', async () => {
    expect((await firstOf(account('0123456789'), 'enquiry-2')).status).toBe(200);
    const { reference: _, amount_minor: __, ...customer } = billPaymentBody();
    const others = [
      await resolve(account('0223456789'), { key: 'enquiry-2' }),
      await tenant.call('POST', '/billpay/validate', JSON.stringify(customer), {
        key: 'enquiry-2',
      }),
    ];
    for (const { status, body } of others) {
      expect([status, body.error.code]).toEqual([422, 'idempotency_key_reused']);
    }
  });

  test('of an unknown account is refused again, while one without an answer is asked again', async () => {
    const unknown = async () => firstOf(account('0123456003'), 'enquiry-3');
    const [first, second] = [await unknown(), await unknown()];
    expect([first.status, first.body.error.code]).toEqual([422, 'invalid_account']);
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);

    const silent = async () => resolve(account('0123456011'), { key: 'enquiry-4' });
    for (const { status, headers } of [await silent(), await silent()]) {
      expect([status, headers.get('idempotent-replayed')]).toEqual([503, null]);
    }
    expect(await storedClaim('enquiry-4')).toBeNull();
  });

  test('leaves neither the holder nor a hash of the account that can be guessed in the database', async () => {
    const body = account('0323456789');
    expect((await firstOf(body, 'enquiry-5')).status).toBe(200);
    const stored = await storedClaim('enquiry-5');
    expect(stored?.body).toMatch(/^[a-z0-9-]+\.[\w-]+$/);
    const request = `POST /api/v1/transfers/resolve-account\n${JSON.stringify(body)}`;
    const guessed = createHash('sha256').update(request).digest('base64url');
    expect(stored?.fingerprint).not.toBe(guessed);
  });
});

test('a validated customer of a biller is answered again by the first answer', async () => {
  const { reference: _, amount_minor: __, ...customer } = billPaymentBody();
  const send = (options: CallOptions) =>
    tenant.call('POST', '/billpay/validate', JSON.stringify(customer), options);
  const validate = async () => untilTaken(send, 'customer-1');
  const [first, second] = [await validate(), await validate()];
  expect([first.status, second.text]).toEqual([200, first.text]);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
});

describe('a charge', () => {
  test('that is verified or cancelled with a key gives its first answer again, although it has changed since', async () => {
    const payments = paymentClient(tenant);
    const { reference, url } = await payments.page();
    const at = (action: string) =>
      payments.call('POST', `/payments/charges/${reference}/${action}`, {}, { key: action });
    const open = await at('verify');
    expect([open.status, open.body.data]).toMatchObject([200, { status: 'requires_action' }]);
    await onPage(url);
    await payments.waitFor(reference, 'completed');
    const again = await at('verify');
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([open.text, 'true']);

    const refused = await at('cancel');
    expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_state']);
    const repeat = await at('cancel');
    expect([repeat.text, repeat.headers.get('idempotent-replayed')]).toEqual([
      refused.text,
      'true',
    ]);
    const other = await payments.call('POST', `/payments/charges/${reference}/cancel`, undefined, {
      key: 'verify',
    });
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('that is verified while its provider does not answer is asked about again under the same key', async () => {
    const payments = paymentClient(tenant);
    const { reference, url } = await payments.page();
    const verify = async () =>
      payments.call('POST', `/payments/charges/${reference}/verify`, {}, { key: 'silent-verify' });
    await service.bank.faults([
      { call: 'lookup', kind: 'error_500', probability: 1 },
      { call: 'requery', kind: 'error_500', probability: 1 },
    ]);
    const silent = await verify();
    expect([silent.status, silent.body.data]).toMatchObject([200, { status: 'requires_action' }]);
    expect(await storedClaim('silent-verify')).toBeNull();
    await service.bank.faults([]);
    await onPage(url);
    await payments.waitFor(reference, 'completed');
    expect((await verify()).body.data).toMatchObject({ status: 'completed' });
  });

  test('that is verified without a key is always shown as it is', async () => {
    const payments = paymentClient(tenant);
    const { reference, url } = await payments.page();
    const verify = async () => payments.call('POST', `/payments/charges/${reference}/verify`);
    const before = await verify();
    expect(before.body.data).toMatchObject({ status: 'requires_action' });
    await onPage(url);
    await payments.waitFor(reference, 'completed');
    expect((await verify()).body.data).toMatchObject({ status: 'completed' });
  });
});
