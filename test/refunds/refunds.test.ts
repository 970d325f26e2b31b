import { inspect } from 'node:util';
import type { Refund } from '../../src/capabilities/refunds/record.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import {
  onPage,
  paymentClient,
  timesRefunded,
  type ChargeView,
  type PaymentClient,
  type RefundView,
} from '../support/payments.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { SHARED_OPTIONS, shareService, type Service } from '../support/service.js';
import { apiClient, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;
let receiver: Receiver;
/** The charge that most refunds of this file refund a part of. */
let charge: ChargeView;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.earlyAttention);
  tenant = await service.tenant({ balanceMinor: 1_000_000 });
  payments = paymentClient(tenant);
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  charge = await payments.paid();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

let made = 0;
/** By the end of its reference the network does what its table says. */
const refundRequest = (suffix = '789', changes: Record<string, unknown> = {}) => ({
  charge_reference: charge.reference,
  amount_minor: 1_000,
  reference: `refund-${process.pid}-${(made += 1)}-${suffix}`,
  ...changes,
});

async function accepted(client: PaymentClient, body = refundRequest()): Promise<RefundView> {
  const reply = await client.refund(body);
  if (reply.status !== 201) throw new Error(`not accepted: ${reply.text}`);
  return reply.body.data;
}

const waitFor = (reference: string, fits: (refund: RefundView) => boolean) =>
  eventually(`${reference} is as wanted`, async () => {
    const refund = await payments.getRefund(reference);
    return fits(refund) ? refund : undefined;
  });
const isOver = ({ status }: RefundView) => status === 'completed' || status === 'failed';

const idOf = async (reference: string) =>
  String((await service.deps.refunds.store.byReference(tenant.id, reference))?._id);

describe('a refund that fails after it had reached the customer', () => {
  test('a refund that fails later returns the money to the wallet and to the charge, once', async () => {
    const own = await payments.paid();
    const before = await tenant.balance();
    const body = refundRequest('789', { charge_reference: own.reference });
    await accepted(payments, body);
    await waitFor(body.reference, ({ status }) => status === 'completed');
    for (const _ of [1, 2]) {
      expect(await service.bank.setRefundOutcome(body.reference, 'failed')).toBe(200);
    }
    const failed = await waitFor(body.reference, ({ status }) => status === 'failed');
    expect(failed).toMatchObject({ failure: { code: 'reversed' }, attention: null });
    expect(await tenant.balance()).toEqual(before);
    expect((await payments.get(own.reference)).refunded_minor).toBe(0);
    const names = await eventually('both events arrive', () => {
      const events = receiver.events().filter(({ data }) => data['reference'] === body.reference);
      return events.length === 2 ? events.map(({ event }) => event) : undefined;
    });
    expect(names.toSorted()).toEqual(['refund.completed', 'refund.failed']);
  });
});

describe('a refund that was made at the desk of the provider', () => {
  const desk = () => service.deps.database.db.collection<Refund>('refunds');

  test('becomes a refund here, once, and returns its money if it fails later', async () => {
    const own = await payments.paid();
    const before = await tenant.balance();
    expect(await service.bank.refundAtDesk(own.reference, 40_000)).toBe(200);
    const made = await eventually(
      'the refund is recorded',
      async () => (await desk().findOne({ charge_reference: own.reference })) ?? undefined,
    );
    expect(made).toMatchObject({ status: 'completed', made_by: 'provider', attention: null });
    expect((await tenant.balance()).available).toBe(before.available - 40_000);
    expect((await payments.get(own.reference)).refunded_minor).toBe(40_000);
    expect(await payments.getRefund(made.reference)).toMatchObject({ amount_minor: 40_000 });
    const tooMuch = refundRequest('789', {
      charge_reference: own.reference,
      amount_minor: 260_001,
    });
    expect((await payments.refund(tooMuch)).status).toBe(422);
    const theirs = String(made.provider_refund_id);
    expect(await service.bank.setRefundOutcome(theirs, 'failed')).toBe(200);
    await waitFor(made.reference, ({ status }) => status === 'failed');
    expect(await tenant.balance()).toEqual(before);
    expect((await payments.get(own.reference)).refunded_minor).toBe(0);
    expect(await service.problems()).toEqual([]);
  });

  test('of more than the wallet has is owed by the tenant, and calls an operator', async () => {
    const poor = await service.tenant({ balanceMinor: 0 });
    const client = paymentClient(poor);
    const own = await client.paid();
    const { available } = await poor.balance();
    await client.refund({
      charge_reference: own.reference,
      amount_minor: available,
      reference: 'rest',
    });
    await eventually('the wallet has paid it', async () =>
      isOver(await client.getRefund('rest')) ? true : undefined,
    );
    await service.bank.refundAtDesk(own.reference, 1_000);
    const made = await eventually(
      'the refund is recorded',
      async () => (await desk().findOne({ tenant_id: poor.id, made_by: 'provider' })) ?? undefined,
    );
    expect(made.attention?.reason).toContain('owes the rest');
  });

  test('of a payment in suspense is taken from suspense, and the wallet pays nothing', async () => {
    const before = await tenant.balance();
    const { reference, url } = await payments.page('014');
    await onPage(url);
    await payments.waitFor(reference, ({ attention }) => attention !== null);
    await service.bank.refundAtDesk(reference);
    // The provider still reports the payment, which is not booked again.
    const failed = await payments.waitFor(reference, ({ status }) => status === 'failed');
    expect(failed).toMatchObject({ failure: { code: 'payment_returned' }, attention: null });
    expect((await payments.verify(reference)).body.data).toMatchObject({
      status: 'failed',
      attention: null,
    });
    expect(await service.deps.charges.store.byReference(tenant.id, reference)).toMatchObject({
      suspended: [],
      returned_attempts: [1],
    });
    expect(await tenant.balance()).toEqual(before);
    expect(await service.problems()).toEqual([]);
  });
});

test('a payment in suspense that an operator returns reaches the customer by a refund, and its charge fails', async () => {
  const before = await tenant.balance();
  const { reference, url } = await payments.page('014');
  await onPage(url);
  await payments.waitFor(reference, ({ attention }) => attention !== null);
  const { store } = service.deps.charges;
  const id = String((await store.byReference(tenant.id, reference))?._id);
  const line = `charges return ${id} --reason asked --json`;
  const ran = await bursar(line, service.env);
  expect([ran.code, ran.error]).toEqual([0, '']);
  const { id: refund } = JSON.parse(ran.out) as { id: string };
  expect((await bursar(line, service.env)).code).toBe(1);
  expect(await waitFor(refund, isOver)).toMatchObject({
    status: 'completed',
    charge_reference: reference,
  });
  const failed = await payments.waitFor(reference, ({ status }) => status === 'failed');
  expect(failed).toMatchObject({ failure: { code: 'payment_returned' }, attention: null });
  expect(await timesRefunded(service, refund)).toBe(1);
  expect(await tenant.balance()).toEqual(before);
  expect(await service.problems()).toEqual([]);
});

test('a refund that needs an account of the customer goes on once an operator names one, which is forgotten then', async () => {
  const { reference } = await accepted(payments, refundRequest('012'));
  await waitFor(reference, ({ attention }) => attention !== null);
  const id = await idOf(reference);
  const ran = await bursar(
    `refunds resume ${id} --account-number 0123456789 --bank-code 058 --reason asked --json`,
    service.env,
  );
  expect([ran.code, ran.error]).toEqual([0, '']);
  expect(JSON.parse(ran.out)).toMatchObject({ id, account: '******6789 at the bank 058' });
  expect(await waitFor(reference, isOver)).toMatchObject({ status: 'completed', attention: null });
  expect(await timesRefunded(service, reference)).toBe(1);
  const stored = await service.deps.refunds.store.find(id);
  expect(stored?.customer_account).toBeNull();
  expect(inspect(stored, { depth: null })).not.toContain('0123456789');
});

describe('a refund', () => {
  test('a partial refund leaves the wallet, reaches the customer and emits its event', async () => {
    const own = await payments.paid();
    const before = await tenant.balance();
    const body = refundRequest('789', { charge_reference: own.reference, reason: 'Returned' });
    const reply = await payments.refund(body, { headers: { prefer: 'wait=20' } });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('location')).toBe(`/api/v1/payments/refunds/${body.reference}`);
    expect(reply.body.data).toMatchObject({
      reference: body.reference,
      charge_reference: own.reference,
      amount_minor: 1_000,
      status: 'completed',
      reason: 'Returned',
    });
    expect(await tenant.balance()).toEqual({ available: before.available - 1_000, held: 0 });
    expect((await payments.get(own.reference)).refunded_minor).toBe(1_000);
    const rest = await accepted(payments, { charge_reference: own.reference } as never);
    expect(rest.amount_minor).toBe(299_000);
    await waitFor(rest.reference, isOver);
    expect((await payments.get(own.reference)).refunded_minor).toBe(300_000);
    const notice = await eventually('a webhook about the refund arrives', () =>
      receiver.events().find(({ data }) => data['reference'] === body.reference),
    );
    expect(notice.event).toBe('refund.completed');
    const path = `/payments/refunds/${body.reference}/timeline`;
    const types = await eventually('the delivery of the webhook is written', async () => {
      const timeline = await payments.call<{ type: string }[]>('GET', path);
      const found = timeline.body.data.map(({ type }) => type);
      return found.includes('webhook_delivered') ? found : undefined;
    });
    expect(types).toEqual(expect.arrayContaining(['accepted', 'submitted', 'captured']));
  });

  test('each test value is refunded once, or not at all and the hold is released', async () => {
    const wanted: [suffix: string, status: string, code: string | null, times: number][] = [
      ['789', 'completed', null, 1],
      ['001', 'completed', null, 1],
      ['002', 'failed', 'refund_refused', 0],
      ['004', 'completed', null, 1],
      ['007', 'completed', null, 1],
      ['009', 'completed', null, 1],
      ['010', 'completed', null, 1],
    ];
    const before = await tenant.balance();
    const counted = (await payments.get(charge.reference)).refunded_minor;
    const found = await Promise.all(
      wanted.map(async ([suffix]) => {
        const { reference } = await accepted(payments, refundRequest(suffix));
        const { status, failure } = await waitFor(reference, isOver);
        return [suffix, status, failure?.code ?? null, await timesRefunded(service, reference)];
      }),
    );
    expect(found).toEqual(wanted);
    expect(await tenant.balance()).toEqual({ available: before.available - 6_000, held: 0 });
    expect((await payments.get(charge.reference)).refunded_minor).toBe(counted + 6_000);
    await eventually('the refusal is emitted', () =>
      receiver.events().some(({ event }) => event === 'refund.failed') ? true : undefined,
    );
  });

  test('never exceeds the remaining amount, however many are requested at once', async () => {
    const own = await payments.paid();
    const body = () =>
      refundRequest('789', { charge_reference: own.reference, amount_minor: 10_000 });
    const replies = await Promise.all(Array.from({ length: 50 }, () => payments.refund(body())));
    const taken = replies.filter(({ status }) => status === 201);
    const refused = replies.filter(({ status }) => status === 422);
    expect([taken.length, refused.length]).toEqual([30, 20]);
    for (const { body: answer } of refused) {
      expect(answer.error).toMatchObject({
        code: 'invalid_state',
        field: 'charge_reference',
        details: { refundable_minor: 0 },
      });
    }
    for (const { body: answer } of taken) await waitFor(answer.data.reference, isOver);
    expect((await payments.get(own.reference)).refunded_minor).toBe(300_000);
  });

  test('is made once under its key, and a reference stays taken', async () => {
    const body = refundRequest();
    const key = `key of ${body.reference}`;
    const [first, ...others] = await Promise.all(
      Array.from({ length: 6 }, () => payments.refund(body, { key })),
    );
    expect(first?.status).toBe(201);
    for (const other of others) expect(other.text).toBe(first?.text);
    const changed = await payments.refund({ ...body, amount_minor: 1 }, { key });
    expect(changed.body.error.code).toBe('idempotency_key_reused');
    const taken = await payments.refund({ ...refundRequest(), reference: body.reference });
    expect([taken.status, taken.body.error.code]).toEqual([422, 'duplicate_reference']);
    const named = await payments.getRefund(String(taken.body.error.details?.id));
    expect(named.reference).toBe(body.reference);
    const all = service.deps.database.db.collection('refunds');
    expect(await all.countDocuments({ reference: body.reference })).toBe(1);
    await waitFor(body.reference, isOver);
    expect(await timesRefunded(service, body.reference)).toBe(1);
  });
});

describe('bad input is refused with the field’s name', () => {
  test.each([
    ['nothing', { amount_minor: 0 }, 'amount_minor'],
    ['less than nothing', { amount_minor: -1 }, 'amount_minor'],
    ['half a kobo', { amount_minor: 1.5 }, 'amount_minor'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['no charge', { charge_reference: undefined }, 'charge_reference'],
    ['a reference that ends with a space', { reference: 'a ' }, 'reference'],
    ['what there is not', { customer: 'me' }, 'customer'],
    ['a security code', { cvv: '123' }, 'cvv'],
  ])('%s', async (_what, changes, field) => {
    const { status, body } = await payments.refund(refundRequest('789', changes));
    expect([status, body.error.code, body.error.field]).toEqual([400, 'validation_error', field]);
  });

  test('more than is left, a charge that is not paid, unknown or another tenant’s', async () => {
    const refused = async (changes: Record<string, unknown>, client = payments) => {
      const { status, body } = await client.refund(refundRequest('789', changes));
      return [status, body.error.code, body.error.field];
    };
    expect(await refused({ amount_minor: 300_001 })).toEqual([
      422,
      'invalid_state',
      'amount_minor',
    ]);
    const unpaid = await payments.page();
    const field = 'charge_reference';
    const state = [422, 'invalid_state', field];
    expect(await refused({ charge_reference: unpaid.reference })).toEqual(state);
    const gone = [404, 'not_found', field];
    expect(await refused({ charge_reference: 'no-such-charge' })).toEqual(gone);
    // The refusal is saved under its key, like every refusal of a valid body.
    const sentBody = { charge_reference: 'not-yet', amount_minor: 1_000 };
    const first = await payments.refund(sentBody, { key: 'of a charge that comes later' });
    await payments.paid({ reference: 'not-yet' });
    const again = await payments.refund(sentBody, { key: 'of a charge that comes later' });
    expect([again.status, again.text]).toEqual([404, first.text]);
    const other = paymentClient(await service.tenant());
    expect(await refused({}, other)).toEqual(gone);
    const { reference } = await accepted(payments);
    const path = `/payments/refunds/${reference}`;
    for (const route of [path, `${path}/timeline`]) {
      expect((await other.call('GET', route)).status).toBe(404);
    }
    await waitFor(reference, isOver);
  });

  test('a wallet that can’t cover it, and a public key', async () => {
    const poor = await service.tenant({ balanceMinor: 0 });
    const client = paymentClient(poor);
    const own = await client.paid();
    const { status, body } = await client.refund({ charge_reference: own.reference });
    // The provider kept its fee, so the wallet has less than the whole.
    expect([status, body.error]).toMatchObject([
      422,
      { code: 'insufficient_balance', details: { required: 300_000 } },
    ]);
    expect((await client.get(own.reference)).refunded_minor).toBe(0);
    const { key } = await service.deps.apiKeys.create({
      tenantId: poor.id,
      level: 'write',
      kind: 'public',
    });
    const browser = paymentClient(apiClient(service.api.url, key));
    const refused = await browser.refund({ charge_reference: own.reference });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
  });
});

describe('operators', () => {
  const cli = (line: string) => bursar(`refunds ${line} --json`, service.env);

  test('operators are called if the provider does not answer and nothing was refunded; a forced failure releases the hold', async () => {
    const { reference } = await accepted(payments, refundRequest('005'));
    await waitFor(reference, ({ attention }) => attention !== null);
    const id = await idOf(reference);
    const listed = JSON.parse((await cli('list --attention')).out) as { id: string }[];
    expect(listed.map((row) => row.id)).toContain(id);
    const shown = JSON.parse((await cli(`show ${id}`)).out) as Record<string, unknown>;
    expect(shown).toMatchObject({ charge_reference: charge.reference, status: 'processing' });
    const sentBody = await cli(`fail ${id} --reason test`);
    expect([sentBody.code, JSON.parse(sentBody.out)]).toMatchObject([1, { done: false }]);
    // A submission between request and approval voids the approval.
    const forced = await eventually('the failure is approved', async () => {
      const ran = await bursarApproved(`refunds fail ${id} --reason test --force`, service.env);
      return ran.code === 0 ? ran : undefined;
    });
    expect(JSON.parse(forced.out)).toMatchObject({ status: 'used' });
    expect(await timesRefunded(service, reference)).toBe(0);
    expect((await tenant.balance()).held).toBe(0);
  });

  test('complete a refund that they had failed and the network executed nevertheless', async () => {
    const { reference } = await accepted(payments, refundRequest('006'));
    await eventually('the network has it', async () => {
      const refund = await service.deps.refunds.store.byReference(tenant.id, reference);
      return refund?.acknowledged_at ?? undefined;
    });
    await waitFor(reference, ({ attention }) => attention !== null);
    const before = await payments.get(charge.reference);
    const id = await idOf(reference);
    const early = await cli(`complete ${id} --reason test`);
    expect([early.code, JSON.parse(early.out)]).toMatchObject([1, { done: false }]);
    const forced = await bursarApproved(`refunds fail ${id} --reason test --force`, service.env);
    expect(forced.code).toBe(0);
    expect(await service.bank.setRefundOutcome(id, 'refunded')).toBe(200);
    const late = await waitFor(reference, ({ attention }) => attention !== null);
    expect(late).toMatchObject({ status: 'failed', completed_at: null });
    const confirmed = await cli(`complete ${id} --reason test`);
    expect([confirmed.code, JSON.parse(confirmed.out)]).toMatchObject([0, { status: 'completed' }]);
    const after = await payments.get(charge.reference);
    expect(after.refunded_minor).toBe(before.refunded_minor + 1_000);
    expect(await timesRefunded(service, reference)).toBe(1);
  });
});

test('the ledger is correct, and every refund equals the one at the network', async () => {
  expect(await service.problems()).toEqual([]);
});
