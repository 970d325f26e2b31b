import { newId } from '../../src/shared/ids.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { chargeReferences } from '../../src/core/providers/paystack/references.js';
import type {
  ChargePageRequest,
  PaymentProvider,
  Refund,
  TokenChargeRequest,
} from '../../src/core/providers/payment-provider.js';
import type { SavedOutcome } from '../fakes/paystack/records.js';
import { eventually } from '../support/eventually.js';
import { banksFor, KEY, never, settingsFor, startFake } from './support.js';

function adapterFor(url: string, timeoutMs?: number) {
  const settings = settingsFor(url, timeoutMs);
  return createPaystackPayments(settings, banksFor(settings));
}

const EMAIL = 'payer@example.com';
const base = (amountMinor = 500_000n) => ({
  reference: `${newId('charge')}-1`,
  clientReference: 'INV-118',
  amountMinor,
  currency: 'NGN' as const,
  customer: { id: 'customer-1', email: EMAIL, name: 'Invented Payer' },
  requestedAt: new Date(),
});
const pageOrder = (): ChargePageRequest => ({
  ...base(),
  channel: { type: 'card' },
  returnUrl: 'https://shop.example/paid?cart=7',
});
const { toTheirs } = chargeReferences;
const about = (reference: string) => ({ reference, handle: null });

describe('payments by Paystack', () => {
  let fake: Awaited<ReturnType<typeof startFake>>;
  let provider: PaymentProvider;

  beforeAll(async () => {
    fake = await startFake();
    provider = adapterFor(fake.url);
  });
  afterAll(() => fake.close());

  async function open(order = pageOrder()) {
    const page = await provider.openPage(order, never);
    if (page.kind !== 'page') throw new Error(`no page: ${page.kind}`);
    return { order, page };
  }
  const verify = (reference: string) => provider.verifyCharge(about(reference), never);
  const verifySaved = (reference: string) =>
    provider.verifyCharge({ ...about(reference), isOnPage: false }, never);

  /** A paid page, and the method that it leaves. */
  async function paid(next: SavedOutcome = 'success') {
    const { order } = await open();
    fake.pay(toTheirs(order.reference), { next });
    const state = await verify(order.reference);
    if (state.kind !== 'succeeded' || !state.method) throw new Error(`not paid: ${state.kind}`);
    return { order, method: state.method };
  }
  const chargeOf = (
    method: string,
    amountMinor?: bigint,
  ): TokenChargeRequest & { handle: null } => ({
    ...base(amountMinor),
    method,
    returnUrl: null,
    handle: null,
  });
  const chargedTimes = (reference: string) =>
    fake
      .journal()
      .filter((entry) => entry.kind === 'charged' && entry.reference === toTheirs(reference))
      .length;

  describe('pages', () => {
    test('a page is opened under our reference in the form that Paystack allows, and read back as ours', async () => {
      const { order, page } = await open();
      expect(page.url).toMatch(new RegExp(`^${fake.url}/checkout/`));
      expect(page.expiresAt?.getTime()).toBeGreaterThan(order.requestedAt.getTime());
      const { reference } = (fake.requests.at(-1)?.body ?? {}) as { reference: string };
      expect(reference).toMatch(/^[A-Za-z0-9.=-]+$/);
      expect(chargeReferences.toOurs(reference)).toBe(order.reference);
      expect(await verify(order.reference)).toMatchObject({ kind: 'abandoned' });
    });

    test('the address of a page is given once: a repeat is a conflict', async () => {
      const order = pageOrder();
      fake.plan('initialize', 'drop_after');
      expect(await provider.openPage(order, never)).toMatchObject({
        kind: 'unknown',
        reason: 'connection',
      });
      expect(await provider.openPage(order, never)).toMatchObject({
        kind: 'unknown',
        reason: 'conflict',
      });
      expect(provider.payments.pages).toBe('new_reference');
    });

    test('the customer returns from the page with a reference that is ours', async () => {
      const { order, page } = await open();
      const answer = await fetch(page.url, {
        method: 'POST',
        body: new URLSearchParams({ choice: 'pay' }),
        redirect: 'manual',
      });
      const back = new URL(answer.headers.get('location') ?? '');
      expect(back.searchParams.get('cart')).toBe('7');
      expect(chargeReferences.toOurs(back.searchParams.get('reference') ?? '')).toBe(
        order.reference,
      );
    });

    test('a decline is a note while the page is open, and a later payment counts', async () => {
      const { order } = await open();
      fake.decline(toTheirs(order.reference), 'Insufficient Funds');
      expect(await verify(order.reference)).toMatchObject({
        kind: 'pending',
        awaits: 'customer',
        lastDecline: { code: 'insufficient_funds', decline: 'soft' },
      });
      fake.pay(toTheirs(order.reference));
      expect(await verify(order.reference)).toMatchObject({
        kind: 'succeeded',
        amountMinor: 500_000n,
      });
    });

    test('a surcharge of Paystack is never ours', async () => {
      const { order } = await open();
      fake.pay(toTheirs(order.reference), { surcharge: 7_614 });
      expect(await verify(order.reference)).toMatchObject({
        kind: 'succeeded',
        amountMinor: 500_000n,
        surchargeMinor: 7_614n,
        feeMinor: 7_500n,
        method: { email: EMAIL, reusable: true },
      });
    });

    test('a payment that was taken back is reversed', async () => {
      const { order } = await paid();
      fake.setTransaction(toTheirs(order.reference), 'reversed');
      expect(await verify(order.reference)).toMatchObject({ kind: 'reversed' });
    });

    test('a charge that was never opened is not found', async () => {
      expect(await verify(`${newId('charge')}-1`)).toMatchObject({ kind: 'not_found' });
    });
  });

  describe('saved methods', () => {
    test('a charge is paid once, also if its answer is lost and it is sent again', async () => {
      const { method } = await paid('lost');
      const order = chargeOf(method.code);
      expect(await provider.confirmCharge(order, never)).toMatchObject({
        kind: 'unknown',
        reason: 'connection',
      });
      expect(await provider.confirmCharge(order, never)).toMatchObject({
        kind: 'unknown',
        reason: 'conflict',
      });
      expect(await verify(order.reference)).toMatchObject({ kind: 'succeeded' });
      expect(chargedTimes(order.reference)).toBe(1);
    });

    test('a charge that wants the customer has a redirect, and ends by what the customer does', async () => {
      const { method } = await paid('paused');
      const order = chargeOf(method.code);
      const answer = await provider.confirmCharge(order, never);
      expect(answer).toMatchObject({ kind: 'pending', awaits: 'customer' });
      expect(answer.kind === 'pending' && answer.redirect).toMatch(/\/checkout\//);
      expect(await verify(order.reference)).toMatchObject({ kind: 'pending', awaits: 'customer' });
      fake.pay(toTheirs(order.reference));
      expect(await verify(order.reference)).toMatchObject({ kind: 'succeeded' });
    });

    test('a decline on the page of a saved method ends nothing while the customer may try again', async () => {
      const { method } = await paid('paused');
      const order = chargeOf(method.code);
      await provider.confirmCharge(order, never);
      fake.decline(toTheirs(order.reference), 'Insufficient Funds');
      const onPage = { ...about(order.reference), isOnPage: true };
      const declined = {
        awaits: 'customer',
        lastDecline: { code: 'insufficient_funds', decline: 'soft' },
      };
      expect(await provider.verifyCharge(onPage, never)).toMatchObject({
        kind: 'pending',
        ...declined,
      });
      expect(await verifySaved(order.reference)).toMatchObject({ kind: 'declined' });
      fake.pay(toTheirs(order.reference));
      expect(await provider.verifyCharge(onPage, never)).toMatchObject({ kind: 'succeeded' });
    });

    test.each([
      ['insufficient_funds', 'insufficient_funds', 'soft'],
      ['expired', 'expired_card', 'hard'],
    ] as const)('a decline (%s) ends the charge', async (next, code, decline) => {
      const { method } = await paid(next);
      const order = chargeOf(method.code);
      const declined = { kind: 'declined', code, decline };
      expect(await provider.confirmCharge(order, never)).toMatchObject(declined);
      expect(await verifySaved(order.reference)).toMatchObject(declined);
    });

    test('a decline ends the charge of a saved method also if Paystack has lost our note in its metadata', async () => {
      const bodies = new Set<unknown>();
      for (let i = 0; i < 6; i += 1) {
        const { method } = await paid('insufficient_funds');
        const order = chargeOf(method.code);
        await provider.confirmCharge(order, never);
        const answer = await fetch(`${fake.url}/transaction/verify/${toTheirs(order.reference)}`, {
          headers: { authorization: `Bearer ${KEY}` },
        });
        const { data } = (await answer.json()) as { data: { metadata: unknown } };
        bodies.add(data.metadata === '' ? 'lost' : 'kept');
        expect(await verifySaved(order.reference)).toMatchObject({ kind: 'declined' });
      }
      expect(bodies).toEqual(new Set(['kept', 'lost']));
    });

    test('a charge may be pending', async () => {
      const { method } = await paid('pending');
      expect(await provider.confirmCharge(chargeOf(method.code), never)).toMatchObject({
        kind: 'pending',
        awaits: 'provider',
      });
    });

    test('a method is charged under the e-mail that it was saved under', async () => {
      const { method } = await paid();
      const order = chargeOf(method.code);
      const other = { ...order, customer: { ...order.customer, email: 'other@example.com' } };
      expect(await provider.confirmCharge(other, never)).toMatchObject({
        kind: 'rejected',
        code: 'authorization_not_found',
        scope: 'request',
      });
      expect(await provider.confirmCharge(order, never)).toMatchObject({ kind: 'succeeded' });
    });

    test('a revoked method can be charged no more, and a second revocation finds nothing', async () => {
      const { method } = await paid();
      expect(await provider.revokeMethod({ code: method.code }, never)).toMatchObject({
        kind: 'revoked',
      });
      expect(await provider.revokeMethod({ code: method.code }, never)).toMatchObject({
        kind: 'not_found',
      });
      expect(await provider.confirmCharge(chargeOf(method.code), never)).toMatchObject({
        kind: 'rejected',
      });
    });
  });

  describe('refunds', () => {
    const refundOf = (charge: string, amountMinor: bigint) => ({
      charge: about(charge),
      amountMinor,
      currency: 'NGN' as const,
      marker: newId('refund'),
      clientReference: 'INV-118',
      requestedAt: new Date(),
    });
    async function find(charge: string, since = new Date(Date.now() - 60_000)): Promise<Refund[]> {
      const found: Refund[] = [];
      let cursor: string | null = null;
      do {
        const answer = await provider.findRefunds({ ...about(charge), since, cursor }, never);
        if (answer.kind !== 'page') throw new Error(`no page: ${answer.kind}`);
        found.push(...answer.items.filter((each) => each.charge.reference === charge));
        cursor = answer.next;
      } while (cursor !== null);
      return found;
    }
    const refundUntil = (charge: string, marker: string, state: string) =>
      eventually(`the refund is ${state}`, async () =>
        (await find(charge)).find((each) => each.marker === marker && each.state === state),
      );

    test('a refund is accepted, and found by its marker until it has ended', async () => {
      const { order } = await paid();
      const request = refundOf(order.reference, 120_000n);
      expect(await provider.refund(request, never)).toMatchObject({
        kind: 'accepted',
        refund: { marker: request.marker, amountMinor: 120_000n, state: 'pending' },
      });
      await refundUntil(order.reference, request.marker, 'succeeded');
    });

    test('a refund whose answer is lost is found among a thousand others, and never made twice', async () => {
      const { order } = await paid();
      const { order: other } = await paid();
      const request = refundOf(order.reference, 120_000n);
      fake.plan('refund', 'drop_after');
      expect(await provider.refund(request, never)).toMatchObject({ kind: 'unknown' });
      for (let i = 0; i < 1_000; i += 1) fake.refundAtDesk(toTheirs(other.reference), 100 + i);
      const [found, ...more] = await find(order.reference);
      expect(found).toMatchObject({ marker: request.marker, amountMinor: 120_000n });
      expect(more).toEqual([]);
    });

    test('a refund made at the desk has no marker, also of an equal amount', async () => {
      const { order } = await paid();
      const request = refundOf(order.reference, 120_000n);
      await provider.refund(request, never);
      fake.refundAtDesk(toTheirs(order.reference), 120_000);
      const found = await find(order.reference);
      expect(found.map(({ marker }) => marker)).toEqual([null, request.marker]);
    });

    test('a refund that fails after it was processed is read as the list has it', async () => {
      const { order } = await paid();
      const request = refundOf(order.reference, 120_011n);
      await provider.refund(request, never);
      await refundUntil(order.reference, request.marker, 'rejected');
    });

    test('a refund that needs an account goes on with one', async () => {
      const { order } = await paid();
      const request = refundOf(order.reference, 120_012n);
      await provider.refund(request, never);
      const { id } = await refundUntil(order.reference, request.marker, 'needs_account');
      const account = { account: '0123456100', bankCode: '000013' };
      expect(await provider.resumeRefund?.({ id: id ?? '', account }, never)).toMatchObject({
        kind: 'accepted',
      });
      await refundUntil(order.reference, request.marker, 'succeeded');
      expect(fake.requests.at(-1)?.path).toBe('/refund');
    });

    test('a refund that is listed late is not there at first', async () => {
      const { order } = await paid();
      const request = refundOf(order.reference, 120_014n);
      await provider.refund(request, never);
      expect(await find(order.reference)).toEqual([]);
      await refundUntil(order.reference, request.marker, 'succeeded');
    });

    test('a charge that was refunded in full is rejected for this request', async () => {
      const { order } = await paid();
      await provider.refund(refundOf(order.reference, 500_000n), never);
      expect(await provider.refund(refundOf(order.reference, 1n), never)).toMatchObject({
        kind: 'rejected',
        code: 'charge_already_refunded',
        scope: 'request',
      });
    });

    test('a float that is too small is no rejection of a refund', async () => {
      const { order } = await paid();
      const balance = fake.balance();
      fake.topUp(-balance);
      expect(await provider.refund(refundOf(order.reference, 120_000n), never)).toMatchObject({
        kind: 'rejected_temporarily',
        reason: 'float',
        fault: 'float',
      });
      fake.topUp(balance);
    });
  });

  describe('disputes', () => {
    const disputesOf = async (reference: string) => {
      const since = new Date(Date.now() - 60_000);
      const answer = await provider.findDisputes(
        { ...about(reference), since, cursor: null },
        never,
      );
      return answer.kind === 'page' ? answer.items : answer.kind;
    };

    test('a dispute is open, and then won or lost', async () => {
      for (const [resolution, state] of [
        ['declined', 'won'],
        ['merchant-accepted', 'lost'],
      ] as const) {
        const { order } = await paid();
        const dispute = fake.openDispute(toTheirs(order.reference), null);
        expect(await disputesOf(order.reference)).toMatchObject([
          { id: String(dispute?.id), amountMinor: 500_000n, state: 'open', funds: 'with_us' },
        ]);
        fake.resolveDispute(dispute?.id ?? 0, resolution);
        expect(await disputesOf(order.reference)).toMatchObject([{ state }]);
      }
    });

    test('the list of a time has the disputes of all charges', async () => {
      const from = new Date(Date.now() - 60_000);
      const charges = [await paid(), await paid()];
      const opened = charges.map(({ order }) => fake.openDispute(toTheirs(order.reference), null));
      const window = { from, to: new Date(Date.now() + 60_000), cursor: null };
      const answer = await provider.listDisputes?.(window, never);
      expect(answer).toMatchObject({ kind: 'page' });
      const items = answer?.kind === 'page' ? answer.items : [];
      expect(items.map(({ id }) => id)).toEqual(
        expect.arrayContaining(opened.map((each) => String(each?.id))),
      );
    });

    test('the refund of a dispute names it', async () => {
      const { order } = await paid();
      const dispute = fake.openDispute(toTheirs(order.reference), 120_000);
      fake.resolveDispute(dispute?.id ?? 0, 'merchant-accepted');
      const since = new Date(Date.now() - 60_000);
      const answer = await provider.findRefunds(
        { ...about(order.reference), since, cursor: null },
        never,
      );
      const found = answer.kind === 'page' ? answer.items : [];
      const ours = found.filter((each) => each.charge.reference === order.reference);
      expect(ours).toMatchObject([{ dispute: String(dispute?.id), amountMinor: 120_000n }]);
    });

    test('a dispute with an unknown word is unknown', async () => {
      const { order } = await paid();
      const dispute = fake.openDispute(toTheirs(order.reference), null);
      fake.markDispute(dispute?.id ?? 0, 'archived');
      expect(await disputesOf(order.reference)).toBe('unknown');
    });
  });
});
