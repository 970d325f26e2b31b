import type { Charge } from '../../src/capabilities/charges/record.js';
import { newId } from '../../src/shared/ids.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import {
  activeToken,
  chargeBody,
  newCustomer,
  onPage,
  paymentClient,
  type ChargeView,
  type PaymentClient,
} from '../support/payments.js';
import { startService, type Service } from '../support/service.js';
import { apiClient, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;
let browser: PaymentClient;

beforeAll(async () => {
  // Attempts follow each other within seconds.
  const env = {
    BURSAR_ATTENTION_AFTER_MS: '3000',
    BURSAR_DUNNING_DAYS: '0.00006,0.1',
    BURSAR_MAX_OPEN_PUBLIC_CHARGES: '12',
  };
  service = await startService({ oneProcess: true, env });
  tenant = await service.tenant({ balanceMinor: 0 });
  payments = paymentClient(tenant);
  const { key } = await service.deps.apiKeys.create({
    tenantId: tenant.id,
    level: 'write',
    kind: 'public',
  });
  browser = paymentClient(apiClient(service.api.url, key));
});
afterAll(async () => {
  await service?.close();
});

const merchantBody = (changes: Record<string, unknown> = {}) =>
  chargeBody('789', { capture_mode: 'merchant_initiated', ...changes });

// First, because pages that other tests leave open are asked about, also while the provider is silent.
describe('operators', () => {
  const cli = (line: string) => bursar(`charges ${line} --json`, service.env);
  const idOf = async (reference: string) =>
    String((await service.deps.charges.store.byReference(tenant.id, reference))?._id);

  test('see a payment that differs from the request, cannot complete it, and can fail it only by force', async () => {
    const { reference, url } = await payments.page('014');
    await onPage(url);
    await payments.waitFor(reference, ({ attention }) => attention !== null);
    const id = await idOf(reference);
    const listed = JSON.parse((await cli('list --attention')).out) as { id: string }[];
    expect(listed.map((row) => row.id)).toContain(id);
    const shown = JSON.parse((await cli(`show ${id}`)).out) as { provider_reference: string };
    expect(shown.provider_reference).toBe(`${id}-1`);
    const charge = await service.deps.charges.store.find(id);
    if (!charge) throw new Error('it was there');
    for (const kind of ['complete', 'fail'] as const) {
      const payload = { actor: 'ada', reason: 'test', session_id: null, force: false };
      const refused = await service.deps.charges.starter.command(charge, kind, payload);
      expect(refused).toMatchObject({ done: false });
    }
    const forced = await bursarApproved(`charges fail ${id} --reason test --force`, service.env);
    expect([forced.code, JSON.parse(forced.out)]).toMatchObject([0, { status: 'used' }]);
    expect(await payments.get(reference)).toMatchObject({
      attention: null,
      failure: { code: 'operator' },
    });
    const lines = (await payments.timeline(reference)).filter(({ type }) => type === 'operator');
    expect(new Set(lines.map(({ actor }) => actor))).toEqual(new Set(['operator']));
  });

  test('accept another amount, which completes the charge with what was paid, and binds the token to its method', async () => {
    const before = await tenant.balance();
    const customer = newCustomer();
    const { payment_token_id } = await payments.token(customer);
    const { reference, url } = await payments.page('014', { customer, payment_token_id });
    await onPage(url);
    await payments.waitFor(reference, ({ attention }) => attention !== null);
    const id = await idOf(reference);
    const other = await cli(`complete ${id} --reason agreed --amount-minor 149999`);
    expect([other.code, (await cli(`accept ${id} --reason agreed --attempt 2`)).code]).toEqual([
      1, 1,
    ]);
    expect(await cli(`accept ${id} --reason agreed`)).toMatchObject({ code: 0, error: '' });
    expect(await cli(`accept ${id} --reason agreed`)).toMatchObject({
      code: 1,
      error: expect.stringContaining('no payment of this attempt is in suspense') as string,
    });
    expect(await payments.get(reference)).toMatchObject({
      status: 'completed',
      amount_minor: 300_000,
      settled_amount_minor: 150_000,
      attention: null,
    });
    // The network keeps 1.5 % of the amount that was paid.
    expect((await tenant.balance()).available).toBe(before.available + 150_000 - 2_250);
    expect(await payments.tokens(customer.id)).toMatchObject([{ status: 'active', last4: '4081' }]);
  });

  test('accept the payment of an earlier attempt, whose fee is known, while the present page is open', async () => {
    const before = await tenant.balance();
    const { reference, url } = await payments.page('014');
    await onPage(url);
    await payments.waitFor(reference, ({ attention }) => attention !== null);
    const id = await idOf(reference);
    // As after a page whose address was lost.
    const charges = service.deps.database.db.collection<Charge>('charges');
    await charges.updateOne({ _id: id }, { $set: { attempt: 2 }, $inc: { version: 1 } });
    const none = await cli(`complete ${id} --reason agreed --amount-minor 150000`);
    expect(none.code).toBe(1);
    expect(await cli(`accept ${id} --reason agreed`)).toMatchObject({ code: 0, error: '' });
    expect(await payments.get(reference)).toMatchObject({
      status: 'completed',
      settled_amount_minor: 150_000,
    });
    expect((await tenant.balance()).available).toBe(before.available + 150_000 - 2_250);
  });

  test('operators are called if the provider does not answer, and not while the customer has to act', async () => {
    const waiting = await payments.page();
    const { token, customer } = await activeToken(payments);
    const sentBody = merchantBody({
      customer,
      payment_token_id: token.payment_token_id,
      reference: `${chargeBody().reference}-006`,
    });
    await payments.charge(sentBody);
    await payments.waitFor(sentBody.reference, ({ attention }) => attention !== null);
    expect((await payments.get(waiting.reference)).attention).toBeNull();
    const id = await idOf(sentBody.reference);
    expect((await cli(`retry ${id} --reason test`)).code).toBe(0);
    await eventually('it is found by its attention', async () => {
      const query = `NeedsAttention = true AND WorkflowId = "charge/${id}"`;
      for await (const found of service.deps.temporal.client.workflow.list({ query })) return found;
      return undefined;
    });
    expect(await service.bank.setChargeOutcome(`${id}-1`, 'paid')).toBe(200);
    const done = await payments.waitFor(sentBody.reference, 'completed');
    expect(done.attention).toBeNull();
  });

  test('operators are called for a later attempt as for the first', async () => {
    const { token, customer } = await activeToken(payments, 'later_low_funds');
    const sentBody = merchantBody({ customer, payment_token_id: token.payment_token_id });
    const attempt = async () =>
      (await service.deps.charges.store.byReference(tenant.id, sentBody.reference))?.attempt;
    const silent = [{ call: 'any', kind: 'drop_before', probability: 1 }] as const;

    await service.bank.faults([...silent]);
    await payments.charge(sentBody);
    await payments.waitFor(sentBody.reference, ({ attention }) => attention !== null);
    await service.bank.faults([]);
    // The provider has declined the first attempt; the second one is submitted seconds later.
    await eventually('the second attempt', async () =>
      (await attempt()) === 2 ? true : undefined,
    );

    await service.bank.faults([...silent]);
    await payments.waitFor(sentBody.reference, ({ attention }) => attention !== null);
    expect(await attempt()).toBe(2);
    await service.bank.faults([]);
  });
});

describe('a public key', () => {
  test('makes tokens and charges for a customer who is present, and nothing else', async () => {
    const customer = newCustomer();
    const token = await browser.token(customer);
    const { reference: name, ...nameless } = chargeBody('789', {
      customer,
      payment_token_id: token.payment_token_id,
    });
    const accepted = await browser.charge(nameless);
    expect(accepted.status).toBe(201);
    const sentBody = { reference: accepted.body.data.reference };
    const named = await browser.charge({ ...nameless, reference: name });
    expect([named.status, named.body.error]).toMatchObject([403, { field: 'reference' }]);
    // The reference is still free for the tenant itself.
    expect((await payments.charge({ ...nameless, reference: name })).status).toBe(201);
    const merchant = merchantBody({ customer, payment_token_id: token.payment_token_id });
    const path = `/payments/charges/${sentBody.reference}`;
    const refused = await Promise.all([
      browser.charge(merchant),
      browser.verify(sentBody.reference),
      browser.list(),
      browser.call('GET', path),
      browser.call('GET', `${path}/timeline`),
      browser.call('GET', `/payments/customers/${customer.id}/tokens`),
    ]);
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
      refused.map(() => [403, 'forbidden']),
    );
  });

  test('opens no more charges than the bound; those of its tenant’s secret key do not count', async () => {
    const shop = await service.tenant({ balanceMinor: 0 });
    const given = { tenantId: shop.id, level: 'write', kind: 'public' } as const;
    const { key } = await service.deps.apiKeys.create(given);
    const anybody = paymentClient(apiClient(service.api.url, key));
    const own = paymentClient(shop);
    const charge = (headers = {}) => {
      const { reference: _, ...nameless } = chargeBody();
      return anybody.charge(nameless, { headers });
    };
    expect((await own.charge()).status).toBe(201);
    const first = await charge();
    for (let made = 1; made < 12; made += 1) expect((await charge()).status).toBe(201);
    const refused = await charge({ 'idempotency-key': 'once-more' });
    expect([refused.status, refused.body.error]).toMatchObject([
      429,
      { code: 'rate_limit_exceeded', details: { limit: 12, retry_after: 60 } },
    ]);
    expect((await own.charge()).status).toBe(201);
    const { reference } = first.body.data;
    await own.waitFor(reference, 'requires_action');
    expect((await own.call('POST', `/payments/charges/${reference}/cancel`, {})).status).toBe(200);
    expect((await charge({ 'idempotency-key': 'once-more' })).status).toBe(201);
  });

  test('changes no token that is bound, whatever is paid with it', async () => {
    const customer = newCustomer();
    const { payment_token_id } = await browser.token(customer);
    const pay = async (choice: string) => {
      const { reference: _, ...body } = chargeBody('789', { customer, payment_token_id });
      const answer = await browser.charge(body, { headers: { prefer: 'wait=10' } });
      const { reference } = answer.body.data;
      const open = await payments.waitFor(reference, 'requires_action');
      await onPage(String(open.next_action?.url), choice);
      await payments.waitFor(reference, 'completed');
      return payments.tokens(customer.id);
    };
    const bound = await pay('good');
    expect(bound).toMatchObject([{ payment_token_id, status: 'active' }]);
    expect(await pay('later_declined')).toEqual(bound);
  });

  test('gets one answer for every token that it may not use, and changes none', async () => {
    const [customer, another] = [newCustomer(), newCustomer()];
    const ofServer = await payments.token(customer);
    const bound = await activeToken(payments);
    const own = await browser.token(customer);
    const gone = await browser.token(customer);
    await payments.call('DELETE', `/payments/tokens/${gone.payment_token_id}`);
    const foreign = await paymentClient(await service.tenant()).token(customer);
    const before = await payments.tokens(customer.id);
    const attempts: [string, Record<string, unknown>][] = [
      [newId('paymentToken'), { customer }],
      [foreign.payment_token_id, { customer }],
      [ofServer.payment_token_id, { customer }],
      [ofServer.payment_token_id, { customer: undefined }],
      [bound.token.payment_token_id, { customer: bound.customer }],
      [gone.payment_token_id, { customer }],
      [own.payment_token_id, { customer: another }],
      [own.payment_token_id, { customer: { ...customer, email: 'another@example.com' } }],
      [own.payment_token_id, { customer: undefined }],
      [own.payment_token_id, { customer: undefined, customer_id: customer.id }],
      [own.payment_token_id, { customer: undefined, customer_id: another.id }],
      [ofServer.payment_token_id, { customer: undefined, customer_id: another.id }],
    ];
    const answers = await Promise.all(
      attempts.map(async ([payment_token_id, of]) => {
        const { reference: _, ...body } = chargeBody('789', { payment_token_id, ...of });
        const { status, text } = await browser.charge(body);
        return [status, text];
      }),
    );
    expect(answers).toEqual(attempts.map(() => answers[0]));
    expect(answers[0]).toEqual([404, expect.stringContaining('"field":"payment_token_id"')]);
    expect(await payments.tokens(customer.id)).toEqual(before);
    expect(await payments.tokens(bound.customer.id)).toEqual([bound.token]);
  });
});

describe('bad input is refused, and says where', () => {
  test.each([
    ['an unknown capture mode', { capture_mode: 'later' }, 'capture_mode'],
    ['no amount', { amount_minor: 0 }, 'amount_minor'],
    ['half a kobo', { amount_minor: 1.5 }, 'amount_minor'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['no customer', { customer: undefined }, 'customer'],
    ['a customer that is null', { customer: null, customer_id: 'c' }, 'customer'],
    ['no address of e-mail', { customer: { id: 'c', email: 'ada' } }, 'customer.email'],
    ['a reference that ends with a space', { reference: 'a ' }, 'reference'],
    ['a reference that no path can have', { reference: '..' }, 'reference'],
    ['a customer likewise', { customer: { id: '.', email: 'ada@example.com' } }, 'customer.id'],
    ['an address that is no page', { return_url: 'javascript:alert(1)' }, 'return_url'],
    [
      'a merchant-initiated charge of nothing',
      { capture_mode: 'merchant_initiated' },
      'payment_token_id',
    ],
    ['a card', { card: { number: '1' } }, 'card'],
    ['a security code', { metadata: { cvv: '123' } }, 'metadata.cvv'],
  ])('%s', async (_what, changes, field) => {
    const { status, body } = await payments.charge(chargeBody('789', changes));
    expect([status, body.error.code, body.error.field]).toEqual([400, 'validation_error', field]);
  });

  test('a token that can not be charged: unbound, revoked, another customer’s, another tenant’s', async () => {
    const customer = newCustomer();
    const unbound = await payments.token(customer);
    const active = await activeToken(payments);
    const foreign = await activeToken(paymentClient(await service.tenant()));
    const refused = async (payment_token_id: string, who = customer) => {
      const { status, body } = await payments.charge(
        merchantBody({ customer: who, payment_token_id }),
      );
      return [status, body.error.code, body.error.field];
    };
    const field = 'payment_token_id';
    const state = [422, 'invalid_state', field];
    expect(await refused(unbound.payment_token_id)).toEqual(state);
    expect(await refused(active.token.payment_token_id)).toEqual(state);
    const gone = [404, 'not_found', field];
    expect(await refused(foreign.token.payment_token_id, foreign.customer)).toEqual(gone);
    await service.deps.database.db
      .collection<{ _id: string }>('payment_tokens')
      .updateOne({ _id: active.token.payment_token_id }, { $set: { status: 'revoked' } });
    expect(await refused(active.token.payment_token_id, active.customer)).toEqual(state);
  });

  test('a charge that does not exist can not be shown, verified or listed', async () => {
    const path = '/payments/charges/no-such-charge';
    const answers = await Promise.all([
      payments.call('GET', path),
      payments.call('GET', `${path}/timeline`),
      payments.verify('no-such-charge'),
      payments.call('GET', '/payments/customers/nobody/tokens'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await payments.list('?limit=101')).body.error.field).toBe('limit');
    expect((await payments.list('?status=paid')).body.error.field).toBe('status');
    const days = '?start_date=2026-02-02&end_date=2026-02-01';
    expect((await payments.list(days)).body.error.field).toBe('end_date');
  });
});

describe('a charge is made once', () => {
  test('under its key: the same bytes again, another request is refused, a reference stays taken', async () => {
    const sentBody = chargeBody();
    const key = `key of ${sentBody.reference}`;
    const [first, ...others] = await Promise.all(
      Array.from({ length: 6 }, () => payments.charge(sentBody, { key })),
    );
    expect(first?.status).toBe(201);
    for (const other of others) expect(other.text).toBe(first?.text);
    const again = await payments.charge(sentBody, { key });
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first?.text, 'true']);
    expect(again.headers.get('location')).toBe(`/api/v1/payments/charges/${sentBody.reference}`);
    const changed = await payments.charge({ ...sentBody, amount_minor: 1 }, { key });
    expect(changed.body.error.code).toBe('idempotency_key_reused');
    const taken = await payments.charge({ ...chargeBody(), reference: sentBody.reference });
    expect([taken.status, taken.body.error.code]).toEqual([422, 'duplicate_reference']);
    // The ids that the refusal names exist.
    expect((await payments.get(String(taken.body.error.details?.id))).reference).toBe(
      sentBody.reference,
    );
    const { db } = service.deps.database;
    expect(await db.collection('charges').countDocuments({ reference: sentBody.reference })).toBe(
      1,
    );
    // A public key's keys are its own.
    const { reference: _, ...nameless } = chargeBody();
    const pk = await browser.charge(nameless, { key });
    expect(pk.status).toBe(201);
  });

  test('a token likewise', async () => {
    const body = { customer: newCustomer() };
    const make = () => payments.call('POST', '/payments/tokens/card', body, { key: 'one token' });
    const [first, second] = [await make(), await make()];
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await payments.tokens(body.customer.id)).toHaveLength(1);
  });

  test('a reference that looks like a path is found by it', async () => {
    const reference = `a/b%2F?c#${chargeBody().reference}`;
    const made = await payments.charge({ ...chargeBody(), reference });
    expect(made.status).toBe(201);
    expect((await payments.get(reference)).reference).toBe(reference);
    const at = String(made.headers.get('location'));
    const { body } = await payments.call<ChargeView>('GET', at.replace('/api/v1', ''));
    expect(body.data.reference).toBe(reference);
  });
});

test('lists are filtered, in a stable order, and read page by page', async () => {
  const own = await service.tenant();
  const client = paymentClient(own);
  const customer = newCustomer();
  const open: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    const changes = i < 3 ? { customer } : {};
    open.push((await client.page('789', changes)).reference);
  }
  await client.call('POST', '/payments/charges', chargeBody());
  const [first] = open;
  await onPage(String((await client.get(String(first))).next_action?.url));
  await client.waitFor(String(first), 'completed');
  const references = async (query: string) => {
    const { body } = await client.list(query);
    return [body.pagination?.total, ...body.data.map(({ reference }) => reference)];
  };
  const newest = open.toReversed();
  expect(await references(`?customer_id=${customer.id}`)).toEqual([3, ...newest.slice(2)]);
  expect(await references('?status=completed')).toEqual([1, first]);
  expect((await references('?status=requires_action&limit=100')).slice(0)).toContain(open[1]);
  expect(await references(`?customer_id=${customer.id}&sort=created_at&limit=2&page=2`)).toEqual([
    3,
    open[2],
  ]);
  const today = new Date().toISOString().slice(0, 10);
  expect((await references(`?start_date=${today}&end_date=${today}`))[0]).toBe(6);
  expect((await references('?end_date=2020-01-01'))[0]).toBe(0);
});
