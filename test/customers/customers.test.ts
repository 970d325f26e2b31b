import { cardClient, newCard } from '../support/cards.js';
import { identityClient, newCustomerId, type IdentityClient } from '../support/identity.js';
import { chargeBody, newCustomer, paymentClient, type PaymentClient } from '../support/payments.js';
import { startService, type Service } from '../support/service.js';
import { apiClient, type TestTenant } from '../support/tenant.js';
import { accountClient } from '../support/virtual-accounts.js';

let service: Service;
let tenant: TestTenant;
let identity: IdentityClient;
let payments: PaymentClient;

beforeAll(async () => {
  service = await startService({ workers: 0 });
  tenant = await service.tenant();
  identity = identityClient(tenant);
  payments = paymentClient(tenant);
});
afterAll(async () => {
  await service?.close();
});

const NOT_STARTED = { bvn: 'not_started', nin: 'not_started', bank_account: 'not_started' };

describe('a customer', () => {
  test('appears with the payment token that names it first', async () => {
    const customer = newCustomer();
    await payments.token(customer);
    const { created_at, updated_at, ...found } = await identity.customer(customer.id);
    expect(found).toEqual({
      customer_id: customer.id,
      email: customer.email,
      name: customer.name,
      kyc: NOT_STARTED,
    });
    expect(updated_at).toBe(created_at);
  });

  test('appears with the charge that names it first', async () => {
    const customer = newCustomer({ email: 'chidi@example.com' });
    const { status } = await payments.charge(chargeBody('789', { customer }));
    expect(status).toBe(201);
    expect(await identity.customer(customer.id)).toMatchObject({ email: 'chidi@example.com' });
  });

  test('appears with the card that names it first, without an e-mail and a name', async () => {
    const id = newCustomerId();
    await cardClient(tenant).create(newCard('789', { customer_id: id }));
    expect(await identity.customer(id)).toMatchObject({ email: null, name: null });
  });

  test('has a list of payment tokens, whatever names it first; one whom nothing names has none', async () => {
    const [withCard, withAccount, withCheck] = [newCustomerId(), newCustomerId(), newCustomerId()];
    await cardClient(tenant).create(newCard('789', { customer_id: withCard }));
    const account = { customer: { id: withAccount, name: 'Ada Obi' } };
    expect((await accountClient(tenant).create(account)).status).toBe(201);
    expect((await identity.verify(withCheck, { type: 'nin' })).status).toBe(201);
    const list = (id: string) => payments.call('GET', `/payments/customers/${id}/tokens`);
    for (const id of [withCard, withAccount, withCheck]) {
      expect(await list(id)).toMatchObject({ status: 200, body: { data: [] } });
    }
    expect((await list(newCustomerId())).status).toBe(404);
  });

  test('is one for many requests that name it at the same moment', async () => {
    const customer = newCustomer();
    const requests = Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0
        ? payments.charge(chargeBody('789', { customer }))
        : payments.token(customer).then(() => ({ status: 201 })),
    );
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(
      requests.map(() => 201),
    );
    const { body } = await identity.customers(`?customer_id=${customer.id}`);
    expect(body.data).toHaveLength(1);
    expect(body.pagination?.total).toBe(1);
  });

  test('does not appear by a request that is refused', async () => {
    const customer = newCustomer();
    const body = chargeBody('789', {
      customer,
      payment_token_id: 'tok_01kaj2v6wte8v9kcz0t3yd4m5n',
    });
    expect((await payments.charge({ ...body, capture_mode: 'merchant_initiated' })).status).toBe(
      404,
    );
    expect((await identity.call('GET', `/identity/customers/${customer.id}`)).status).toBe(404);
  });

  test('gets the e-mail and the name of a later request, but for one with a public key', async () => {
    const customer = newCustomer();
    await payments.token(customer);
    const { key } = await service.deps.apiKeys.create({
      tenantId: tenant.id,
      level: 'write',
      kind: 'public',
    });
    const browser = paymentClient(apiClient(service.api.url, key));
    const forged = { ...customer, email: 'mallory@example.com', name: 'Mallory' };
    const { reference: _, ...body } = chargeBody('789', { customer: forged });
    expect((await browser.charge(body)).status).toBe(201);
    await browser.token(forged);
    expect(await identity.customer(customer.id)).toMatchObject({
      email: customer.email,
      name: customer.name,
    });
    await payments.token({ ...customer, name: 'Ada Obi-Okafor' });
    expect(await identity.customer(customer.id)).toMatchObject({ name: 'Ada Obi-Okafor' });
    const shy = newCustomer();
    await browser.token(shy);
    expect(await identity.customer(shy.id)).toMatchObject({ email: shy.email });
  });
});

describe('the list of customers', () => {
  test('pages through all customers in either order, and filters by id, day and status', async () => {
    const other = await service.tenant();
    const client = identityClient(other);
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      ids.push((await paymentClient(other).token(newCustomer())).customer_id);
    }
    const listed = async (query: string) =>
      (await client.customers(query)).body.data.map(({ customer_id }) => customer_id);
    expect(await listed('')).toEqual(ids.toReversed());
    expect(await listed('?sort=created_at')).toEqual(ids);
    expect(await listed('?limit=2&page=2&sort=created_at')).toEqual(ids.slice(2, 4));
    expect(await listed(`?customer_id=${ids[3]}`)).toEqual([ids[3]]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await listed(`?start_date=${today}&end_date=${today}&sort=created_at`)).toEqual(ids);
    expect(await listed('?end_date=2020-01-01')).toEqual([]);
    expect(await listed('?kyc_status=not_started&sort=created_at')).toEqual(ids);
    expect(await listed('?kyc_status=verified')).toEqual([]);
    const { body } = await client.customers('?start_date=2026-02-01&end_date=2026-01-01');
    expect(body.error).toMatchObject({ code: 'validation_error', field: 'end_date' });
  });
});

test('a tenant without the feature gets feature_not_enabled', async () => {
  const plain = await service.tenant();
  await service.deps.tenants.update(plain.id, { features: { identity: false } });
  const { body } = await identityClient(plain).customers();
  expect(body.error.code).toBe('feature_not_enabled');
});
