import type { BillPayment } from '../../src/capabilities/bill-payments/bill-payment.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import {
  billClient,
  billEffects,
  BILL_MINOR,
  billPaymentBody,
  decideBill,
  TOKEN,
  type BillClient,
  type BillPaymentReply,
} from '../support/bill-payments.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const BALANCE_MINOR = 1_000_000;
const AFTER_PAYMENT = { available: BALANCE_MINOR - BILL_MINOR, held: 0 };
const WHILE_HELD = { available: BALANCE_MINOR - BILL_MINOR, held: BILL_MINOR };
const UNTOUCHED = { available: BALANCE_MINOR, held: 0 };
const PAID = { kind: 'paid', amount_minor: BILL_MINOR };
const RECEIPT = { token: expect.stringMatching(TOKEN), units: '73.0 kWh' };

const ROWS = ['789', '001', '002', '003', '004', '005', '006', '007', '008', '009', '010', '011'];

type Row = {
  tenant: TestTenant;
  bills: BillClient;
  body: ReturnType<typeof billPaymentBody>;
  reply: BillPaymentReply;
  id: string;
};

/** The table runs against billers that de-duplicate requests, and against some where only our own checks prevent a second payment. */
describe.each([{ deduplicate: true }, { deduplicate: false }])('billers with %p', (bank) => {
  let service: Service;
  let rows: Map<string, Row>;
  /** A second payment that waits until the test sets its outcome. */
  let toBeRefused: Row;

  /** Creates every payment before the first one is checked. */
  beforeAll(async () => {
    service = await startService({ bank, env: { BURSAR_ATTENTION_AFTER_MS: '8000' } });
    const made = await Promise.all([...ROWS, '006'].map(startRow));
    toBeRefused = made.pop() as Row;
    rows = new Map(made.map((row, i) => [ROWS[i] as string, row]));
  });

  afterAll(async () => {
    await service?.close();
  });

  async function startRow(suffix: string): Promise<Row> {
    const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
    const bills = billClient(tenant);
    const body = billPaymentBody(suffix);
    const reply = await bills.pay(body, { key: 'one key' });
    if (reply.status >= 500) throw new Error(`${suffix} was answered ${reply.text}`);
    return { tenant, bills, body, reply, id: reply.body.data?.id };
  }

  const row = (suffix: string) => rows.get(suffix) as Row;

  const postings = async (id: string) =>
    (
      await service.deps.database.db
        .collection<{ _id: string }>('postings')
        .find({ _id: { $regex: `^${id}/` } })
        .toArray()
    )
      .map(({ _id }) => _id.slice(id.length + 1))
      .toSorted();

  async function expectCompletedOnce({ tenant, bills, id, body }: Row) {
    const payment = await bills.waitFor(id, 'completed');
    expect(payment).toMatchObject({
      amount_minor: BILL_MINOR,
      fee_minor: 0,
      total_minor: BILL_MINOR,
      receipt: RECEIPT,
      failure: null,
      attention: null,
      reversed_at: null,
      completed_at: expect.any(String),
    });
    expect(await billEffects(service, id)).toEqual([PAID]);
    expect((await service.bank.journal(id))[0]).toMatchObject({
      client_reference: body.reference,
      biller: body.biller_id,
    });
    expect(await postings(id)).toEqual(['hold', 'resolve']);
    expect(await tenant.balance()).toEqual(AFTER_PAYMENT);
    return payment;
  }

  const callbacksAbout = (id: string) =>
    service.deps.database.db
      .collection<ProviderEvent>('provider_events')
      .find({ 'facts.reference': id })
      .sort({ received_at: 1 })
      .toArray();

  test('any other customer: 201 and pending with the customer’s name, then completed with the token', async () => {
    const { reply, id, body } = row('789');
    expect(reply.status).toBe(201);
    expect(reply.headers.get('location')).toBe(`/api/v1/billpay/payments/${id}`);
    expect(reply.body).toMatchObject({
      success: true,
      data: {
        ...body,
        status: 'pending',
        customer_name: expect.stringMatching(/^[A-Z]+ [A-Z]+$/),
        receipt: null,
      },
    });
    await expectCompletedOnce(row('789'));
    const { data: timeline } = JSON.parse(
      (await row('789').tenant.call('GET', `/billpay/payments/${id}/timeline`, undefined)).text,
    ) as { data: { type: string }[] };
    const steps = timeline.map(({ type }) => type);
    expect(steps.slice(0, 2)).toEqual(['accepted', 'submitted']);
    expect(steps.at(-1)).toBe('captured');
  });

  test('001: paid later, reported by callback only, completed with the token of the callback', async () => {
    await expectCompletedOnce(row('001'));
    const [first, ...more] = await callbacksAbout(row('001').id);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ status: 'processed', event: 'bill.paid' });
  });

  test('002: refused: failed, with the reason and the hold released', async () => {
    const { tenant, bills, id } = row('002');
    const payment = await bills.waitFor(id, 'failed');
    expect(payment).toMatchObject({ failure: { code: 'provider_declined' }, receipt: null });
    expect(await billEffects(service, id)).toEqual([]);
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  });

  test('003: no such customer: 422 that names the field, saved under its key, no payment and no reference used', async () => {
    const { tenant, bills, reply, body } = row('003');
    expect(reply.status).toBe(422);
    expect(reply.body.error).toMatchObject({
      code: 'invalid_account',
      field: 'customer_reference',
    });
    const again = await bills.pay(body, { key: 'one key' });
    expect([again.status, again.text]).toEqual([422, reply.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await tenant.balance()).toEqual(UNTOUCHED);
    const { db } = service.deps.database;
    expect(await db.collection('bill_payments').countDocuments({ tenant_id: tenant.id })).toBe(0);
    const reused = await bills.pay({ ...body, customer_reference: '4503061788' });
    expect(reused.status).toBe(201);
    await bills.waitFor(reused.body.data.id, 'completed');
  });

  test('004: paid without an answer: found by verifying, completed with its token, paid once', async () => {
    await expectCompletedOnce(row('004'));
  });

  test('005: never answered and never paid: stays held, and raises attention', async () => {
    const { tenant, bills, id } = row('005');
    const payment = await bills.waitFor(id, ({ attention }) => attention !== null);
    expect(payment).toMatchObject({ status: 'processing', failure: null, receipt: null });
    expect(await billEffects(service, id)).toEqual([]);
    expect(await tenant.balance()).toEqual(WHILE_HELD);
  });

  test('006: pending until its outcome is set: paid completes it', async () => {
    const { tenant, bills, id } = row('006');
    await bills.waitFor(id, ({ attention }) => attention !== null);
    expect(await tenant.balance()).toEqual(WHILE_HELD);
    await decideBill(service, id, 'paid');
    await expectCompletedOnce(row('006'));
  });

  test('006: pending until its outcome is set: failed releases the hold', async () => {
    const { tenant, bills, id } = toBeRefused;
    await decideBill(service, id, 'failed');
    const payment = await bills.waitFor(id, 'failed');
    expect(payment.failure?.code).toBe('provider_declined');
    expect(await billEffects(service, id)).toEqual([]);
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  });

  test('007: three errors before the payment: completed, paid once', async () => {
    await expectCompletedOnce(row('007'));
  });

  test('008: paid and then reversed: failed with reversed_at, the amount returned and the token hidden', async () => {
    const { tenant, bills, id } = row('008');
    const payment = await bills.waitFor(id, 'failed');
    expect(payment).toMatchObject({
      failure: { code: 'reversed' },
      reversed_at: expect.any(String),
      receipt: null,
    });
    expect(await billEffects(service, id)).toEqual([PAID, { ...PAID, kind: 'reversed' }]);
    expect(await postings(id)).toEqual(['hold', 'resolve', 'reversal']);
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  });

  test('009: three callbacks out of order: completed once, and not changed afterwards', async () => {
    const { id } = row('009');
    await eventually('all callbacks were taken and looked at', async () => {
      const stored = await callbacksAbout(id);
      const done = stored.length === 3 && stored.every(({ result }) => result !== null);
      return done ? true : undefined;
    });
    await expectCompletedOnce(row('009'));
    const applied = (await callbacksAbout(id)).filter(({ result }) => result === 'applied');
    expect(applied.length).toBeLessThanOrEqual(1);
  });

  test('010: 429 first: submitted again, completed, paid once', async () => {
    await expectCompletedOnce(row('010'));
  });

  test('011: accepted without a name because the validation hangs, then completed', async () => {
    const { reply } = row('011');
    expect(reply.status).toBe(201);
    expect(reply.body.data.customer_name).toBeNull();
    await expectCompletedOnce(row('011'));
  });

  test('the list shows a payment as it is, without the token', async () => {
    const { tenant, bills, id } = row('789');
    const list = JSON.parse((await tenant.call('GET', '/billpay/payments', undefined)).text);
    const payment = await bills.get(id);
    expect(list.data).toEqual([{ ...payment, receipt: { token: null, units: '73.0 kWh' } }]);
  });

  test('afterwards the ledger balances and agrees with the journal, and only the payment that waits for the biller is open', async () => {
    expect(await service.problems()).toEqual([]);
    const open = service.deps.database.db
      .collection<BillPayment>('bill_payments')
      .find({ status: { $in: ['pending', 'processing'] } });
    expect((await open.toArray()).map(({ _id }) => _id)).toEqual([row('005').id]);
  });
});
