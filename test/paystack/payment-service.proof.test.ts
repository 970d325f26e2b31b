import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import {
  newCustomer,
  paymentClient,
  type ChargeView,
  type PaymentClient,
  type RefundView,
  type TokenView,
} from '../support/payments.js';
import type { TestTenant } from '../support/tenant.js';
import { REHEARSAL_KEY, startRehearsal, type Rehearsal } from './rehearsal.js';

let rehearsal: Rehearsal;
let fake: Rehearsal['fake'];
let service: Rehearsal['service'];
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  rehearsal = await startRehearsal();
  ({ fake, service } = rehearsal);
  tenant = await service.tenant({ balanceMinor: 50_000_000 });
  payments = paymentClient(tenant);
});
afterAll(() => rehearsal?.close());

/** Acts as the customer on the page. */
async function act(url: string, choice: string, next = 'success'): Promise<void> {
  const body = new URLSearchParams({ choice, next });
  await fetch(url, { method: 'POST', body, redirect: 'manual' });
}
const charged = (reference: string) =>
  fake
    .journal()
    .filter((entry) => entry.kind === 'charged' && entry.reference.startsWith(reference)).length;
const theirsOf = async (reference: string): Promise<string> => {
  const charge = await service.deps.charges.store.byReference(tenant.id, reference);
  expect(charge?.provider).toBe('paystack');
  return String(charge?._id).replace('_', '-');
};

describe('payments of live by Paystack', () => {
  test('a customer pays on the page, and the wallet gets what is left after the fee', async () => {
    const charge = await payments.page('', { amount_minor: 500_000 });
    await act(charge.url, 'pay');
    await payments.waitFor(charge.reference, 'completed');
    expect(charged(await theirsOf(charge.reference))).toBe(1);
  });

  test('a decline on the page ends nothing, and a later payment with a surcharge completes the charge', async () => {
    const charge = await payments.page('', { amount_minor: 500_000 });
    await act(charge.url, 'decline');
    await payments.verify(charge.reference);
    expect(await payments.get(charge.reference)).toMatchObject({ status: 'requires_action' });
    await act(charge.url, 'surcharge');
    expect(await payments.waitFor(charge.reference, 'completed')).toMatchObject({
      amount_minor: 500_000,
    });
  });

  test.each([
    ['before the look-up', true],
    ['after the look-up', false],
  ])('a surcharge that its message does not name is not credited, %s', async (_when, isFirst) => {
    const { available } = await tenant.balance();
    const { db } = service.deps.database;
    const { reference } = await payments.page('', { amount_minor: 500_000 });
    const theirs = `${await theirsOf(reference)}-1`;
    if (!isFirst) fake.pauseMessages(true);
    fake.pay(theirs, { surcharge: 10_000, omitsRequested: true });
    // The message books the payment in suspense. The workflow or this test then asks about it.
    const isTold = ({ attention, completed_at: at }: ChargeView) =>
      attention !== null || at !== null;
    if (isFirst) await payments.waitFor(reference, isTold);
    await payments.verifyUntil(reference, ({ status }) => status === 'completed');
    fake.pauseMessages(false);
    await eventually('the message is applied', async () =>
      fake.messagesWaiting() === 0 &&
      (await db.collection('provider_events').countDocuments({ next_check_at: { $ne: null } })) ===
        0
        ? true
        : undefined,
    );
    expect(await payments.get(reference)).toMatchObject({
      status: 'completed',
      settled_amount_minor: null,
      attention: null,
    });
    // Paystack keeps 1.5 % of the amount that was asked for.
    expect((await tenant.balance()).available).toBe(available + 500_000 - 7_500);
    expect(await rehearsal.problems()).toEqual([]);
  });

  test('a payment that was taken back without a refund or a dispute calls an operator', async () => {
    const { reference, url } = await payments.page('', { amount_minor: 500_000 });
    await act(url, 'pay');
    await payments.waitFor(reference, 'completed');
    fake.setTransaction(`${await theirsOf(reference)}-1`, 'reversed');
    const { body } = await payments.verifyUntil(reference, ({ attention }) => attention !== null);
    expect(body.data).toMatchObject({ status: 'completed', refunded_minor: 0 });
    expect(body.data.attention?.reason).toContain('do not explain it');
  });

  test('an answer with the address of a page that is lost leads to another page, and at most one payment', async () => {
    fake.plan('initialize', 'drop_after');
    const charge = await payments.page('', { amount_minor: 500_000 });
    await act(charge.url, 'pay');
    await payments.waitFor(charge.reference, 'completed');
    const theirs = await theirsOf(charge.reference);
    const opened = fake.transactions().filter(({ reference }) => reference.startsWith(theirs));
    expect(opened).toHaveLength(2);
    expect(charged(theirs)).toBe(1);
  });

  test('a page that its tenant cancels is asked about at the usual pauses, and paid late it completes the charge', async () => {
    const { reference, url } = await payments.page('', { amount_minor: 500_000 });
    const path = `/payments/charges/${reference}/cancel`;
    expect((await payments.call<ChargeView>('POST', path, {})).body.data.status).toBe('failed');
    const verified = `/transaction/verify/${await theirsOf(reference)}-1`;
    const asked = () => fake.requests.filter((request) => request.path === verified).length;
    await eventually('it is asked about', () => (asked() > 0 ? true : undefined));
    await sleep(4_000);
    // At most one in two seconds is usual here. Without pauses there are dozens.
    expect(asked()).toBeLessThan(10);
    await act(url, 'pay');
    await payments.waitFor(reference, 'completed');
  });

  async function savedCard(next = 'success') {
    const customer = newCustomer();
    const { payment_token_id } = await payments.token(customer);
    const charge = await payments.page('', { customer, payment_token_id });
    await act(charge.url, 'pay', next);
    await payments.waitFor(charge.reference, 'completed');
    await eventually('the token is active', async () =>
      (await payments.tokens(customer.id)).some(({ status }) => status === 'active')
        ? true
        : undefined,
    );
    return { customer, payment_token_id };
  }

  const renew = async (card: object) =>
    (await payments.charge({ ...chargeWithout, ...card, reference: `renewal-${randomUUID()}` }))
      .body.data;
  const chargeWithout = { amount_minor: 400_000, capture_mode: 'merchant_initiated' };

  /** A renewal whose first request is lost, and whose card Paystack charges no more. */
  async function loseRenewal() {
    const card = await savedCard('lost_before');
    const charge = await renew(card);
    const theirs = await theirsOf(charge.reference);
    type Body = { reference: string; authorization_code: string };
    const { authorization_code } = await eventually('its first request is lost', () =>
      fake.requests
        .filter(({ path }) => path === '/transaction/charge_authorization')
        .map(({ body }) => body as Body)
        .find(({ reference }) => reference.startsWith(theirs)),
    );
    await fetch(`${fake.url}/customer/authorization/deactivate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${REHEARSAL_KEY}` },
      body: JSON.stringify({ authorization_code }),
    });
    return { card, charge, theirs };
  }

  // A minute passes before its repeat, and another one before nothing can be under way any more: the other tests run meanwhile.
  let lostRenewal: Awaited<ReturnType<typeof loseRenewal>>;
  beforeAll(async () => {
    lostRenewal = await loseRenewal();
  });

  test('a renewal charges the saved card once, also if its answer is lost', async () => {
    const charge = await renew(await savedCard('lost'));
    await payments.waitFor(charge.reference, 'completed');
    expect(charged(await theirsOf(charge.reference))).toBe(1);
  });

  test('a renewal that wants the customer has a page, and completes by it', async () => {
    const charge = await renew(await savedCard('paused'));
    const open = await payments.waitFor(charge.reference, 'requires_action');
    await act(String(open.next_action?.url), 'pay');
    await payments.waitFor(charge.reference, 'completed');
  });

  test('a renewal that wants the customer, and whose page is lost, is never charged again, and its tenant can cancel it', async () => {
    const { reference } = await renew(await savedCard('paused_lost'));
    await eventually('it waits for its customer', async () => {
      const lines = await payments.timeline(reference);
      return lines.some(({ detail }) => detail?.includes('address was lost')) ? true : undefined;
    });
    const path = `/payments/charges/${reference}/cancel`;
    const { status, body } = await payments.call<ChargeView>('POST', path, {});
    expect([status, body.data.failure?.code]).toEqual([200, 'cancelled']);
    const theirs = await theirsOf(reference);
    const opened = fake.transactions().filter((each) => each.reference.startsWith(theirs));
    expect(opened).toHaveLength(1);
  });

  test('a mandate binds its bank account without a payment, and its set-up is asked about when Paystack reports it', async () => {
    const { body } = await payments.call<TokenView>('POST', '/payments/tokens/bank-account', {
      customer: newCustomer(),
      account_number: '0123456789',
      bank_code: '058',
    });
    const { payment_token_id: id } = body.data;
    const get = async () =>
      (await payments.call<TokenView>('GET', `/payments/tokens/${id}`)).body.data;
    await payments.call('POST', `/payments/tokens/${id}/setup`, {});
    const url = await eventually(
      'its page is open',
      async () => (await get()).setup?.next_action?.url,
    );
    const mandate = url.slice(url.lastIndexOf('/') + 1);
    expect(fake.activateMandate(mandate)).toBe(true);
    await eventually('the token is active', async () =>
      (await get()).status === 'active' ? true : undefined,
    );
    expect((await get()).setup).toMatchObject({ status: 'completed' });
    const events = service.deps.database.db.collection('provider_events');
    await eventually('its message was applied', async () =>
      (await events.findOne({ 'message.data.reference': mandate, status: 'processed' }))
        ? true
        : undefined,
    );
  });

  test('a refund is made once, also if its answer is lost', async () => {
    const charge = await payments.page('', { amount_minor: 500_000 });
    await act(charge.url, 'pay');
    await payments.waitFor(charge.reference, 'completed');
    fake.plan('refund', 'drop_after');
    const reference = `refund-${charge.reference}`;
    const { body } = await payments.refund({
      charge_reference: charge.reference,
      amount_minor: 120_000,
      reference,
    });
    expect(body).toMatchObject({ success: true });
    await eventually('the refund is completed', async () =>
      (await payments.getRefund(reference)).status === 'completed' ? true : undefined,
    );
    const theirs = await theirsOf(charge.reference);
    const made = fake
      .journal()
      .filter((entry) => entry.kind === 'refunded' && entry.reference.startsWith(theirs));
    expect(made).toHaveLength(1);
  });

  /** A paid charge, and the balance with it. */
  async function paid() {
    const charge = await payments.page('', { amount_minor: 500_000 });
    await act(charge.url, 'pay');
    await payments.waitFor(charge.reference, 'completed');
    const { reference } = charge;
    return { reference, before: await tenant.balance(), theirs: await theirsOf(reference) };
  }

  /** The refund of a charge, once it has this status here. */
  const refunded = (charge: string, status: string) =>
    eventually(`the refund is ${status}`, async () => {
      const path = `/payments/refunds?charge_reference=${charge}`;
      const { data } = (await payments.call<RefundView[]>('GET', path)).body;
      const reference = data.find((each) => each.status === status)?.reference;
      return reference === undefined ? undefined : payments.getRefund(reference);
    });

  /** Staff refund a charge, and the events name the number of the refund: those of every second refund do not. */
  function refundAtDesk(reference: string, amount: number): void {
    const isUnnamed = fake.refunds().length % 2 === 0;
    if (isUnnamed) fake.refundAtDesk(fake.payElsewhere(amount), amount);
    fake.refundAtDesk(reference, amount);
  }

  test.each(['by the tenant', 'on the dashboard'])(
    'a refund made %s that fails after it was processed returns its money to the wallet and the charge',
    async (by) => {
      const { reference, before, theirs } = await paid();
      const request = { charge_reference: reference, amount_minor: 120_000 };
      if (by === 'by the tenant') await payments.refund(request);
      else refundAtDesk(`${theirs}-1`, 120_000);
      await refunded(reference, 'completed');
      expect((await payments.get(reference)).refunded_minor).toBe(120_000);
      const [made] = fake
        .refunds()
        .filter(({ amount }) => amount === 120_000)
        .slice(-1);
      fake.moveRefund(String(made?.id), 'failed');
      expect(await refunded(reference, 'failed')).toMatchObject({
        failure: { code: 'reversed' },
        attention: null,
      });
      expect(await tenant.balance()).toEqual(before);
      expect((await payments.get(reference)).refunded_minor).toBe(0);
    },
  );

  test('a refund that is refused because the dashboard has given everything back, untold, has that refund recorded', async () => {
    const { reference, theirs } = await paid();
    fake.pauseMessages(true);
    fake.refundAtDesk(`${theirs}-1`, 500_000);
    await payments.refund({ charge_reference: reference, amount_minor: 120_000 });
    expect(await refunded(reference, 'failed')).toMatchObject({
      failure: { code: 'charge_already_refunded' },
    });
    expect(await refunded(reference, 'completed')).toMatchObject({ amount_minor: 500_000 });
    expect((await payments.get(reference)).refunded_minor).toBe(500_000);
    fake.pauseMessages(false);
  });

  /** A paid charge that its customer disputes, for the amount that the wallet got of it. */
  async function disputed(amount: number | null = null) {
    const { reference, before, theirs } = await paid();
    const dispute = fake.openDispute(`${theirs}-1`, amount);
    await disputeOf(reference, 'open');
    return { reference, before: before.available, id: dispute?.id ?? 0 };
  }

  const disputeOf = (reference: string, status: string) =>
    eventually(`the dispute is ${status}`, async () => {
      const path = `/payments/disputes?charge_reference=${reference}`;
      type Row = { id: string; status: string; attention: { reason: string } | null };
      const { data } = (await payments.call<Row[]>('GET', path)).body;
      return data.length === 1 && data[0]?.status === status ? data[0] : undefined;
    });

  const balance = (minor: number) =>
    eventually(`the balance is ${minor}`, async () =>
      (await tenant.balance()).available === minor ? true : undefined,
    );

  test('a disputed charge takes its amount from the wallet until the dispute is won', async () => {
    const { reference, before, id } = await disputed();
    await balance(before - 500_000);
    expect((await payments.get(reference)).disputed_minor).toBe(500_000);
    fake.resolveDispute(id, 'declined');
    await disputeOf(reference, 'won');
    await balance(before);
  });

  test('a dispute that was declined after a full refund stays open until an operator decides it', async () => {
    const { reference, before, theirs } = await paid();
    await payments.refund({ charge_reference: reference, amount_minor: 500_000 });
    await refunded(reference, 'completed');
    const dispute = fake.openDispute(`${theirs}-1`);
    await disputeOf(reference, 'open');
    await balance(before.available - 1_000_000);
    fake.resolveDispute(dispute?.id ?? 0, 'declined');
    const { id } = await eventually('the dispute has attention for its end', async () => {
      const open = await disputeOf(reference, 'open');
      return open.attention?.reason.endsWith('decide the dispute') ? open : undefined;
    });
    const won = `disputes decide ${id} --outcome won --reason declined`;
    expect(await bursarApproved(won, service.env)).toMatchObject({ code: 0, error: '' });
    await balance(before.available - 500_000);
    await payments.verify(reference);
    expect(await disputeOf(reference, 'won')).toMatchObject({ attention: null });
    expect(await payments.get(reference)).toMatchObject({ attention: null });
  });

  test('a lost dispute takes its part of the charge once: its refund at Paystack is no other one', async () => {
    const { reference, before, id } = await disputed(120_000);
    fake.resolveDispute(id, 'merchant-accepted');
    await disputeOf(reference, 'lost');
    await eventually('Paystack has told of its refund', () =>
      fake.refunds().some((each) => each.dispute === id && each.status === 'processed') &&
      fake.messagesWaiting() === 0
        ? true
        : undefined,
    );
    await payments.verify(reference);
    await balance(before - 120_000);
    const path = `/payments/refunds?charge_reference=${reference}`;
    expect((await payments.call<unknown[]>('GET', path)).body.data).toEqual([]);
  });

  test('a renewal whose request was lost, and whose repeat is refused, fails with the refusal, and its token is revoked', async () => {
    const { card, charge, theirs } = lostRenewal;
    const failed = await eventually(
      'the charge has failed',
      async () => {
        const found = await payments.get(charge.reference);
        return found.status === 'failed' ? found : undefined;
      },
      240_000,
    );
    expect(failed).toMatchObject({ attention: null });
    expect(failed.failure?.code).toBe('authorization_not_found');
    expect(charged(theirs)).toBe(0);
    const [token] = await payments.tokens(card.customer.id);
    expect(token?.status).not.toBe('active');
  }, 300_000);

  test('the books balance', async () => {
    expect(await rehearsal.problems()).toEqual([]);
  });
});
