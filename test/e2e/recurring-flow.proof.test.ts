import { randomUUID } from 'node:crypto';
import { verifyWebhook } from '../../client/src/index.js';
import { scheduleId } from '../../src/capabilities/recurring-charges/record.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startListening, type Listening } from '../support/listening.js';
import {
  paymentClient,
  type ChargeView,
  type PaymentClient,
  type RefundView,
  type TokenView,
} from '../support/payments.js';
import type { Receiver } from '../support/receiver.js';
import { RECURRING_PATH, type RecurringView } from '../support/recurring.js';
import type { Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const AMOUNT_MINOR = 500_000;
/** The amount less the network's fee of 1.5 % and ₦100. */
const NET_MINOR = 482_500;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const customer = { id: 'customer-77', email: 'ada@example.com', name: 'Ada Obi' };

let all: Listening;
let service: Service;
let tenant: TestTenant;
let secret: string;
let payments: PaymentClient;
/** Receives the tenant's webhooks, and its customers' browsers after a payment. */
let hooks: Receiver;
let shop: Receiver;

beforeAll(async () => {
  all = await startListening();
  service = all.service;
  [hooks, shop] = [await all.receiver(), await all.receiver(200)];
  ({ tenant, secret } = await all.tenant(hooks));
  payments = paymentClient(tenant);
});
afterAll(() => all?.close());

/** A charge as the API answers it, with no further fields. */
const charge = (changes: Partial<Record<keyof ChargeView, unknown>>) => ({
  amount_minor: AMOUNT_MINOR,
  currency: 'NGN',
  customer_id: customer.id,
  next_action: null,
  next_attempt_at: null,
  settled_amount_minor: null,
  refunded_minor: 0,
  disputed_minor: 0,
  failure: null,
  attention: null,
  description: null,
  metadata: {},
  created_at: TIME,
  completed_at: null,
  ...changes,
});

const tokensOf = async () =>
  payments.call<TokenView[]>('GET', `/payments/customers/${customer.id}/tokens`);

async function tokenize(): Promise<string> {
  const made = await payments.call<TokenView>('POST', '/payments/tokens/card', { customer });
  expect([made.status, made.body]).toEqual([
    201,
    {
      success: true,
      data: {
        payment_token_id: expect.stringMatching(/^tok_/),
        customer_id: customer.id,
        type: 'card',
        status: 'unbound',
        created_at: TIME,
      },
    },
  ]);
  return made.body.data.payment_token_id;
}

/** Pays like a browser: submits the form of the page and follows its redirects. */
async function payOnPage(url: string): Promise<Response> {
  const page = await fetch(url);
  const html = await page.text();
  expect([page.status, page.headers.get('content-type')]).toEqual([
    200,
    'text/html; charset=utf-8',
  ]);
  expect(html).toContain('₦5,000.00');
  expect(html).toContain('<form method="post">');
  const [, chosen] = /<input type="radio" name="choice" value="(\w+)" checked/.exec(html) ?? [];
  const [, pressed] = /<button[^>]* name="action" value="(pay)"/.exec(html) ?? [];
  const body = new URLSearchParams({ choice: String(chosen), action: String(pressed) });
  return fetch(url, { method: 'POST', body });
}

async function setUp(payment_token_id: string) {
  const body = {
    amount_minor: AMOUNT_MINOR,
    currency: 'NGN',
    capture_mode: 'customer_action_required',
    customer,
    payment_token_id,
    reference: 'subscription-9-setup',
    description: 'First month',
    return_url: `${shop.url}?cart=7`,
    metadata: { order: '1042' },
  };
  const { capture_mode, reference, description, metadata } = body;
  const given = { capture_mode, reference, description, metadata, payment_token_id };
  const reply = await payments.charge(body, { headers: { prefer: 'wait=20' } });
  const next_action = { type: 'redirect', url: expect.stringMatching(/^http/) };
  expect([reply.status, reply.body]).toEqual([
    201,
    { success: true, data: charge({ ...given, status: 'requires_action', next_action }) },
  ]);
  const early = await payments.charge({
    ...body,
    capture_mode: 'merchant_initiated',
    reference: 'too-early',
  });
  expect([early.status, early.body.error]).toMatchObject([
    422,
    { code: 'invalid_state', field: 'payment_token_id', details: { status: 'unbound' } },
  ]);
  return { given, url: String(reply.body.data.next_action?.url) };
}

/** Pays while the customer returns, the provider calls back, and the shop requests the charge repeatedly. */
async function pay(payment_token_id: string): Promise<ChargeView> {
  const { given, url } = await setUp(payment_token_id);
  expect((await payOnPage(url)).status).toBe(200);
  const back = new URL(String(shop.received[0]?.path), shop.url).searchParams;
  expect(back.get('cart')).toBe('7');
  const named = [given.reference, String(back.get('reference')), given.reference];
  const answers = await Promise.all(
    named.map((each) => payments.verifyUntil(each, ({ status }) => status === 'completed')),
  );
  const data = charge({ ...given, status: 'completed', completed_at: TIME });
  for (const { status, body } of answers)
    expect([status, body]).toEqual([200, { success: true, data }]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  await eventually('the provider has called back', async () =>
    (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
  );
  expect((await payments.verify(given.reference)).text).toBe(answers[0]?.text);
  const { body } = await tokensOf();
  expect(body).toEqual({
    success: true,
    data: [
      {
        payment_token_id,
        customer_id: customer.id,
        type: 'card',
        status: 'active',
        brand: 'verve',
        last4: '4081',
        created_at: TIME,
      },
    ],
    pagination: { page: 1, limit: 20, total: 1, pages: 1, has_more: false },
  });
  return answers[0]?.body.data as ChargeView;
}

/** Charges without the customer while the network's answer never comes and the shop repeats its request. */
async function renewUnanswered(payment_token_id: string): Promise<ChargeView> {
  const body = {
    amount_minor: AMOUNT_MINOR,
    capture_mode: 'merchant_initiated',
    customer,
    payment_token_id,
    reference: 'subscription-9-renewal-004',
    idempotency_key: randomUUID(),
  };
  const { capture_mode, reference } = body;
  const given = { capture_mode, reference, payment_token_id };
  const replies = await Promise.all([1, 2, 3].map(() => payments.charge(body)));
  const [{ status, text, body: first } = {}] = replies;
  expect([status, first]).toEqual([
    201,
    { success: true, data: charge({ ...given, status: 'pending' }) },
  ]);
  const paid = await payments.waitFor(reference, 'completed');
  expect(paid).toEqual(charge({ ...given, status: 'completed', completed_at: TIME }));
  const later = await payments.charge(body);
  expect([...replies, later].map((reply) => reply.text)).toEqual([text, text, text, text]);
  expect([later.status, later.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  const withoutKey = await payments.charge({ ...body, idempotency_key: undefined });
  expect([withoutKey.status, withoutKey.body.error.code]).toEqual([422, 'duplicate_reference']);
  const steps = (await payments.timeline(reference)).map(({ type, detail }) => [type, detail]);
  expect(steps.filter(([type]) => type === 'submitted')).toHaveLength(1);
  expect(steps).toContainEqual(['provider_answer', 'unknown: timeout']);
  expect(steps).toContainEqual(['poll', 'succeeded']);
  return paid;
}

/** Charges by the Schedule: its period begins in a moment, and the Schedule is triggered once more by the test. */
async function renewBySchedule(payment_token_id: string): Promise<RecurringView> {
  const start = new Date(Math.floor(Date.now() / 1000) * 1000 + 30_000);
  const body = {
    payment_token_id,
    amount_minor: AMOUNT_MINOR,
    interval: 'month',
    count: 24,
    start_at: start.toISOString(),
    description: 'Gold plan',
  };
  const made = await payments.call<RecurringView>('POST', RECURRING_PATH, body);
  expect([made.status, made.body.data]).toMatchObject([
    201,
    { ...body, status: 'active', charged_periods: 0, next_charge_at: body.start_at },
  ]);
  const { id } = made.body.data;
  const { client } = service.deps.temporal;
  const schedule = client.schedule.getHandle(scheduleId(id));
  await payments.waitFor(`${id}-0`, 'completed');
  await schedule.trigger();
  await eventually('both runs have ended', async () => {
    const { numActionsTaken, runningActions } = (await schedule.describe()).info;
    return numActionsTaken === 2 && runningActions.length === 0 ? true : undefined;
  });
  const { data } = (await payments.call<RecurringView>('GET', `${RECURRING_PATH}/${id}`)).body;
  expect(data).toMatchObject({
    status: 'active',
    charged_periods: 1,
    last_paid_reference: `${id}-0`,
    unpaid_references: [],
  });
  expect(Date.parse(String(data.next_charge_at))).toBeGreaterThan(start.getTime());
  return data;
}

async function refundPart(charge_reference: string): Promise<RefundView> {
  const body = { charge_reference, amount_minor: 100_000, reason: 'Returned' };
  const { status, body: answer } = await payments.refund(
    { ...body, reference: 'subscription-9-refund' },
    { headers: { prefer: 'wait=20' } },
  );
  const data = {
    ...body,
    reference: 'subscription-9-refund',
    currency: 'NGN',
    settled_amount_minor: null,
    status: 'completed',
    failure: null,
    attention: null,
    created_at: TIME,
    completed_at: TIME,
  };
  expect([status, answer]).toEqual([201, { success: true, data }]);
  const tooMuch = await payments.refund({ charge_reference, amount_minor: AMOUNT_MINOR - 99_999 });
  expect([tooMuch.status, tooMuch.body.error]).toMatchObject([
    422,
    { code: 'invalid_state', details: { refundable_minor: AMOUNT_MINOR - 100_000 } },
  ]);
  expect((await payments.get(charge_reference)).refunded_minor).toBe(100_000);
  return answer.data;
}

/** Reads the webhooks that arrived, each once and signed, grouped by resource and in the order of their sequence. */
async function receivedEvents(count: number): Promise<Record<string, string[]>> {
  await eventually(`${count} events`, () => (hooks.received.length >= count ? true : undefined));
  const events = await Promise.all(
    hooks.received.map(({ headers, body }) => verifyWebhook(secret, headers, body)),
  );
  const about: Record<string, string[]> = {};
  for (const { event, sequence, data } of events) {
    const { reference, id } = data as { reference?: string; id?: string };
    (about[reference ?? String(id)] ??= [])[sequence - 1] = event;
  }
  return about;
}

test('a customer pays once, is charged again without taking part, on request and every month, and gets a partial refund', async () => {
  const before = await tenant.balance();
  const token = await tokenize();
  const setup = await pay(token);
  const renewal = await renewUnanswered(token);
  const { id } = await renewBySchedule(token);
  const refund = await refundPart(setup.reference);

  // The effects at the network, in this order, and no others.
  const journal = await service.bank.journal();
  expect(journal.map((entry) => [entry.kind, entry.client_reference, entry.amount_minor])).toEqual([
    ['charged', setup.reference, AMOUNT_MINOR],
    ['charged', renewal.reference, AMOUNT_MINOR],
    ['charged', `${id}-0`, AMOUNT_MINOR],
    ['refunded', refund.reference, 100_000],
  ]);
  const available = before.available + 3 * NET_MINOR - 100_000;
  expect(await tenant.balance()).toEqual({ available, held: 0 });
  expect(await service.problems()).toEqual([]);
  expect((await bursar('ledger verify --json', service.env)).code).toBe(0);

  expect(await receivedEvents(6)).toEqual({
    [setup.reference]: ['charge.requires_action', 'charge.completed'],
    [renewal.reference]: ['charge.completed'],
    [`${id}-0`]: ['charge.completed'],
    [id]: ['recurring_charge.renewed'],
    [refund.reference]: ['refund.completed'],
  });
  expect(hooks.received).toHaveLength(6);
  await payments.call('POST', `${RECURRING_PATH}/${id}/cancel`, {});
  await eventually('the Schedule is gone', () =>
    service.deps.temporal.client.schedule
      .getHandle(scheduleId(id))
      .describe()
      .then(() => undefined)
      .catch(() => true),
  );
});
