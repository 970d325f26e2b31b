import { randomUUID } from 'node:crypto';
import type { Refund } from '../../src/capabilities/refunds/record.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { paymentClient, type PaymentClient, type RefundView } from '../support/payments.js';
import type { TestTenant } from '../support/tenant.js';
import { sampleRefundEvent } from './golden/refunds.js';
import { startRehearsal, type Rehearsal } from './rehearsal.js';

let rehearsal: Rehearsal;
let fake: Rehearsal['fake'];
let service: Rehearsal['service'];
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  rehearsal = await startRehearsal(
    {},
    {
      BURSAR_PROVIDER_EVENT_RETRY_SECONDS: '1,2,2,5',
      // Paystack may be slow, and no workflow counts as stalled meanwhile.
      PAYSTACK_TIMEOUT_MS: '8000',
      BURSAR_STALL_TIMEOUT_MS: '10000',
    },
  );
  ({ fake, service } = rehearsal);
  tenant = await service.tenant({ balanceMinor: 50_000_000 });
  payments = paymentClient(tenant);
});
afterAll(() => rehearsal?.close());

/** A paid charge, its reference at Paystack, and the balance with it. */
async function paid() {
  const { url, reference } = await payments.page('', { amount_minor: 500_000 });
  const body = new URLSearchParams({ choice: 'pay', next: 'success' });
  await fetch(url, { method: 'POST', body, redirect: 'manual' });
  await payments.waitFor(reference, 'completed');
  const charge = await service.deps.charges.store.byReference(tenant.id, reference);
  const theirs = `${String(charge?._id).replace('_', '-')}-1`;
  return { reference, theirs, before: await tenant.balance() };
}

/** The refunds of a charge here. */
const refundsOf = async (charge: string) =>
  (await payments.call<RefundView[]>('GET', `/payments/refunds?charge_reference=${charge}`)).body
    .data;

/**
 * Sends a report about a refund with this note: by default one of 120,000 kobo that was made on the dashboard. Returns its
 * event once it has ended here.
 */
async function report(
  charge: string,
  status: 'processed' | 'failed',
  id: string | null,
  note = 'Refund from the dashboard',
  amount = '120000',
) {
  const marker = randomUUID();
  fake.send(`refund.${status}`, {
    ...(id !== null && { id }),
    status,
    amount,
    currency: 'NGN',
    domain: 'live',
    transaction_reference: charge,
    merchant_note: note,
    refund_reference: marker,
  });
  const events = service.deps.database.db.collection<ProviderEvent>('provider_events');
  return eventually(`refund.${status} of ${charge} has ended`, async () => {
    const found = await events.findOne({ 'message.data.refund_reference': marker });
    return found && found.status !== 'received' ? found : undefined;
  });
}

test('a refund that Paystack takes seconds to answer is awaited, because it can never be sent again, and calls no operator', async () => {
  const charge = await paid();
  fake.plan('refund', 'slow');
  const { body } = await payments.refund({
    charge_reference: charge.reference,
    amount_minor: 120_000,
  });
  const { reference } = body.data;
  await eventually('the refund is completed', async () =>
    (await payments.getRefund(reference)).status === 'completed' ? true : undefined,
  );
  const path = `/payments/refunds/${reference}/timeline`;
  const timeline = (await payments.call<{ type: string }[]>('GET', path)).body.data;
  expect(timeline.map(({ type }) => type)).not.toContain('attention_raised');
  const sent = fake.requests.filter(
    (request) => request.method === 'POST' && request.path === '/refund',
  );
  expect(sent).toHaveLength(1);
});

describe('a refund on the dashboard', () => {
  test('that fails before Paystack reports it as processed leaves the wallet and the charge as they were', async () => {
    const { reference, theirs, before } = await paid();
    fake.refundAtDesk(theirs, 120_015);
    const id = String(fake.refunds().at(-1)?.id);
    fake.moveRefund(id, 'failed', { tell: false });
    await report(theirs, 'failed', id);
    expect(await report(theirs, 'processed', id)).toMatchObject({ status: 'processed' });
    expect(await tenant.balance()).toEqual(before);
    expect((await payments.get(reference)).refunded_minor).toBe(0);
    expect(await refundsOf(reference)).toEqual([]);
  });

  test('whose failure names no refund returns the money by the list', async () => {
    const { reference, theirs, before } = await paid();
    fake.refundAtDesk(theirs, 120_000);
    const made = await eventually('the refund is completed', async () =>
      (await refundsOf(reference)).find(({ status }) => status === 'completed'),
    );
    expect((await tenant.balance()).available).toBe(before.available - 120_000);
    const theirRefund = fake.refunds().findLast(({ amount }) => amount === 120_000);
    fake.moveRefund(String(theirRefund?.id), 'failed', { tell: false });
    expect(await report(theirs, 'failed', null)).toMatchObject({ status: 'processed' });
    expect(await payments.getRefund(made.reference)).toMatchObject({
      status: 'failed',
      failure: { code: 'reversed' },
    });
    expect(await tenant.balance()).toEqual(before);
    expect((await payments.get(reference)).refunded_minor).toBe(0);
  });

  test('whose failure names no refund calls nobody if the charge has none', async () => {
    const { theirs } = await paid();
    expect(await report(theirs, 'failed', null)).toMatchObject({ status: 'ignored' });
  });
});

describe.each(['sample', 'named'] as const)('a refund of ours whose events are `%s`', (form) => {
  beforeAll(() => fake.setRefundForm(form));
  afterAll(() => fake.setRefundForm(null));

  test('is debited once, and its events call nobody', async () => {
    const { reference, before } = await paid();
    const events = service.deps.database.db.collection<ProviderEvent>('provider_events');
    const failed = () => events.countDocuments({ event: 'refund.processed', status: 'failed' });
    const failedBefore = await failed();
    const { body } = await payments.refund({ charge_reference: reference, amount_minor: 120_000 });
    await eventually('the refund is completed and its events have ended', async () =>
      (await payments.getRefund(body.data.reference)).status === 'completed' &&
      fake.messagesWaiting() === 0 &&
      (await events.countDocuments({ status: 'received' })) === 0
        ? true
        : undefined,
    );
    expect(await refundsOf(reference)).toHaveLength(1);
    expect((await tenant.balance()).available).toBe(before.available - 120_000);
    expect(await failed()).toBe(failedBefore);
  });

  test('returns its money if it fails after it was made', async () => {
    const { reference, before } = await paid();
    const { body } = await payments.refund({ charge_reference: reference, amount_minor: 120_017 });
    await eventually('the refund has failed', async () =>
      (await payments.getRefund(body.data.reference)).status === 'failed' ? true : undefined,
    );
    expect(await refundsOf(reference)).toHaveLength(1);
    expect(await tenant.balance()).toEqual(before);
  });
});

describe('two refunds of one amount and charge, which the official samples do not tell apart', () => {
  beforeAll(() => fake.setRefundForm('sample'));
  afterAll(() => fake.setRefundForm(null));

  const AMOUNT = 120_015;
  const events = () => service.deps.database.db.collection<ProviderEvent>('provider_events');

  /** Orders a refund, which Paystack leaves open. Returns its reference here and its number there. */
  async function order(charge: string) {
    const known = new Set(fake.refunds().map(({ id }) => id));
    const { body } = await payments.refund({ charge_reference: charge, amount_minor: AMOUNT });
    const made = await eventually('Paystack has the refund', () =>
      fake.refunds().find(({ id, amount }) => amount === AMOUNT && !known.has(id)),
    );
    return { ours: body.data.reference, theirs: String(made.id) };
  }

  /** Moves a refund at Paystack, until it has this status here and all events have ended. */
  async function move(refund: { ours: string; theirs: string }, to: string, here: string) {
    fake.moveRefund(refund.theirs, to);
    await eventually(`the refund is ${here}, and its events have ended`, async () =>
      (await payments.getRefund(refund.ours)).status === here &&
      fake.messagesWaiting() === 0 &&
      (await events().countDocuments({ status: 'received' })) === 0
        ? true
        : undefined,
    );
  }

  test('return the money of the second one too if it fails after it was made', async () => {
    const { reference, before } = await paid();
    const first = await order(reference);
    await move(first, 'failed', 'failed');
    const second = await order(reference);
    await move(second, 'processed', 'completed');
    expect((await tenant.balance()).available).toBe(before.available - AMOUNT);
    await move(second, 'failed', 'failed');
    expect(await payments.getRefund(second.ours)).toMatchObject({
      failure: { code: 'reversed' },
      attention: null,
    });
    expect(await tenant.balance()).toEqual(before);
    expect((await payments.get(reference)).refunded_minor).toBe(0);
    const failures = await events()
      .find({ event: 'refund.failed' }, { sort: { received_at: -1 }, limit: 2 })
      .toArray();
    const [one, other] = failures.map(({ message }) => message as { data: object });
    expect(one).toEqual(other);
    const { data } = sampleRefundEvent('failed') as { data: object };
    expect(Object.keys(one?.data ?? {}).toSorted()).toEqual(Object.keys(data).toSorted());
  });
});

describe('a refund of ours whose success is reported after its failure is known', () => {
  /** A refund that Paystack has failed, and that has failed here. */
  async function failed() {
    const charge = await paid();
    const { body } = await payments.refund({
      charge_reference: charge.reference,
      amount_minor: 120_015,
    });
    const made = body.data.reference;
    const theirId = await eventually('Paystack has the refund', () =>
      fake.refunds().findLast(({ amount, status }) => amount === 120_015 && status === 'pending'),
    );
    fake.moveRefund(String(theirId.id), 'failed', { tell: false });
    await eventually('the refund has failed', async () =>
      (await payments.getRefund(made)).status === 'failed' ? true : undefined,
    );
    const id = String((await service.deps.refunds.store.byReference(tenant.id, made))?._id);
    return { ...charge, made, id, theirId: String(theirId.id) };
  }

  test('keeps its money and calls nobody if Paystack still has it as failed', async () => {
    const { theirs, made, id, theirId, before } = await failed();
    expect(await report(theirs, 'processed', theirId, id, '120015')).toMatchObject({
      status: 'processed',
    });
    expect(await payments.getRefund(made)).toMatchObject({ status: 'failed', attention: null });
    expect(await tenant.balance()).toEqual(before);
  });

  test('is in suspense and calls an operator if Paystack has made it after all', async () => {
    const { theirs, made, id, theirId, before } = await failed();
    fake.moveRefund(theirId, 'processed', { tell: false });
    expect(await report(theirs, 'processed', theirId, id, '120015')).toMatchObject({
      status: 'processed',
    });
    expect(await payments.getRefund(made)).toMatchObject({
      status: 'failed',
      attention: { reason: 'refunded by the provider after the hold had been released' },
    });
    expect(await tenant.balance()).toEqual(before);
  });

  test('is in suspense if an operator asks and Paystack has made it after all', async () => {
    const { made, id, theirId } = await failed();
    fake.moveRefund(theirId, 'processed', { tell: false });
    const asked = await bursar(`refunds verify ${id} --reason test --json`, service.env);
    expect([asked.code, asked.error]).toEqual([0, '']);
    expect(await payments.getRefund(made)).toMatchObject({
      status: 'failed',
      attention: { reason: 'refunded by the provider after the hold had been released' },
    });
  });
});

describe('a refund of ours that may have been made twice', () => {
  test('keeps its money if a failure names no refund, and an operator has it looked up', async () => {
    const { reference, theirs } = await paid();
    const { body } = await payments.refund({ charge_reference: reference, amount_minor: 120_000 });
    const made = body.data.reference;
    await eventually('the refund is completed', async () =>
      (await payments.getRefund(made)).status === 'completed' ? true : undefined,
    );
    const before = await tenant.balance();
    const { store } = service.deps.refunds;
    const id = String((await store.byReference(tenant.id, made))?._id);
    // An operator had attested that the first request was lost, and had it submitted again.
    await service.deps.database.db
      .collection<Refund>('refunds')
      .updateOne({ _id: id, tenant_id: tenant.id }, { $set: { submissions: 2 } });
    await report(theirs, 'failed', null, id);
    expect(await payments.getRefund(made)).toMatchObject({
      status: 'completed',
      attention: { reason: 'the provider rejects what it had reported as refunded' },
    });
    expect(await tenant.balance()).toEqual(before);
    const asked = await bursar(`refunds verify ${id} --reason test --json`, service.env);
    expect([asked.code, asked.error]).toEqual([0, '']);
    expect(await payments.getRefund(made)).toMatchObject({ status: 'completed' });
  });

  test('returns its money once an operator, with a second person, states that the rejected one was it', async () => {
    const { reference, theirs } = await paid();
    const before = await tenant.balance();
    const { body } = await payments.refund({ charge_reference: reference, amount_minor: 120_000 });
    const made = body.data.reference;
    await eventually('the refund is completed', async () =>
      (await payments.getRefund(made)).status === 'completed' ? true : undefined,
    );
    const id = String((await service.deps.refunds.store.byReference(tenant.id, made))?._id);
    await service.deps.database.db
      .collection<Refund>('refunds')
      .updateOne(
        { _id: id, tenant_id: tenant.id },
        { $set: { submissions: 2, provider_refund_id: null } },
      );
    const theirRefund = fake.refunds().findLast(({ amount }) => amount === 120_000);
    fake.moveRefund(String(theirRefund?.id), 'failed', { tell: false });
    await report(theirs, 'failed', null, id);
    const plain = await bursar(`refunds fail ${id} --reason seen --json`, service.env);
    expect([plain.code, (await payments.getRefund(made)).status]).toEqual([1, 'completed']);
    const ran = await bursarApproved(`refunds fail ${id} --reason seen --force`, service.env);
    expect([ran.code, ran.error]).toEqual([0, '']);
    expect(await payments.getRefund(made)).toMatchObject({ status: 'failed', attention: null });
    expect(await tenant.balance()).toEqual(before);
  });
});

test('the books balance', async () => {
  expect(await rehearsal.problems()).toEqual([]);
});
