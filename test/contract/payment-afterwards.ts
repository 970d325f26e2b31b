import { readAll } from '../../src/core/providers/pages.js';
import type {
  Dispute,
  PaymentEvent,
  Refund,
  RefundRequest,
  TokenChargeRequest,
} from '../../src/core/providers/payment-provider.js';
import { isId } from '../../src/shared/ids.js';
import { about, never, ordersFor, renewed, type Subject } from './payment-subject.js';

const DESK_MINOR = 50_000n;
const CUSTOMER = { account: '0123456789', bankCode: '058' };

/** The course of payments and refunds after they were made, also without a request of ours. */
export function describeAfterwards(at: Subject): void {
  const { chargeOrder, refundOrder, paid, eventOf } = ordersFor(at);
  const since = new Date(Date.now() - 60_000);
  const charge = (order: TokenChargeRequest, handle: string | null = null) =>
    at.provider.confirmCharge({ ...order, handle }, never);
  const verify = (reference: string) =>
    at.provider.verifyCharge({ ...about(reference), isOnPage: false }, never);
  const refund = (order: RefundRequest) => at.provider.refund(order, never);

  async function refundsOf(reference: string): Promise<Refund[]> {
    const answer = await readAll((cursor) =>
      at.provider.findRefunds({ ...about(reference), since, cursor }, never),
    );
    if (answer.kind !== 'all') throw new Error(`the refunds are ${answer.kind}`);
    return answer.items.filter((each) => each.charge.reference === reference);
  }

  /** The only refund of a charge, once it has this state. */
  async function refundIs(reference: string, state: Refund['state']): Promise<Refund> {
    for (;;) {
      const [found, ...others] = await refundsOf(reference);
      expect(others).toEqual([]);
      if (found?.state === state) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function disputesOf(reference: string): Promise<Dispute[]> {
    const answer = await readAll((cursor) =>
      at.provider.findDisputes({ ...about(reference), since, cursor }, never),
    );
    if (answer.kind !== 'all') throw new Error(`the disputes are ${answer.kind}`);
    return answer.items.filter((each) => each.charge.reference === reference);
  }

  /** The first message about a charge whose content fits. */
  async function told(reference: string, fits: (about: PaymentEvent['about']) => boolean) {
    for (let count = 1; ; count += 1) {
      const delivered = await at.harness.callbacksAbout(reference, count);
      const event = delivered.map(eventOf).find((each) => fits(each.about));
      if (event) return event.about;
    }
  }

  /** The message that reports a refund of a charge in this state. */
  const toldRefund = (reference: string, state: Refund['state']) =>
    told(reference, (each) => each.subject === 'refund' && each.refund.state === state);

  describe('a dispute of a payment', () => {
    test.each(['won', 'lost'] as const)(
      'is listed with its charge and reported by message, when it is opened and when it is %s',
      async (end) => {
        const reference = await paid();
        expect(await disputesOf(reference)).toEqual([]);
        const toldDispute = (state: Dispute['state']) =>
          told(reference, (each) => each.subject === 'dispute' && each.dispute.state === state);
        await at.harness.desk.dispute(reference, 'opened');
        const [opened, ...others] = await disputesOf(reference);
        expect([opened, others]).toEqual([
          {
            id: expect.stringMatching(/^\w+$/) as string,
            charge: { reference, handle: at.harness.ways.refunds.chargeHandle },
            amountMinor: 300_000n,
            currency: 'NGN',
            state: 'open',
            funds: 'with_us',
            reason: expect.stringMatching(/^[a-z_-]+$/) as string,
            dueAt: expect.any(Date) as Date,
          },
          [],
        ]);
        const id = opened?.id;
        expect(await toldDispute('open')).toMatchObject({ dispute: { id, amountMinor: 300_000n } });
        await at.harness.desk.dispute(reference, end);
        expect(await disputesOf(reference)).toMatchObject([{ id, state: end }]);
        expect(await toldDispute(end)).toMatchObject({ dispute: { id, amountMinor: 300_000n } });
      },
    );

    test('is in the list of all disputes, where the provider has one', async () => {
      const { listDisputes } = at.provider;
      if (!listDisputes) return;
      const reference = await paid();
      await at.harness.desk.dispute(reference, 'opened');
      const to = new Date(Date.now() + 60_000);
      const all = await readAll((cursor) => listDisputes({ from: since, to, cursor }, never));
      if (all.kind !== 'all') throw new Error(`the disputes are ${all.kind}`);
      const listed = all.items.find((each) => each.charge.reference === reference);
      expect([listed]).toEqual(await disputesOf(reference));
    });
  });

  describe('a refund after its request', () => {
    test('one that the provider’s staff makes is listed and reported without a marker of ours', async () => {
      const reference = await paid();
      await at.harness.desk.refund(reference, DESK_MINOR);
      const made = await refundIs(reference, 'succeeded');
      expect(made).toMatchObject({ dispute: null, amountMinor: DESK_MINOR, currency: 'NGN' });
      expect(isId('refund', made.marker ?? '')).toBe(false);
      const { id, marker } = made;
      expect(await toldRefund(reference, 'succeeded')).toMatchObject({
        refund: { id, marker, amountMinor: DESK_MINOR },
      });
    });

    test('one that was made and fails afterwards is listed and reported as such, with its amount', async () => {
      const order = refundOrder(await paid());
      const { reference } = order.charge;
      await refund(order);
      const { id } = await refundIs(reference, 'succeeded');
      await at.harness.desk.failRefund({ id: String(id), marker: order.marker });
      const { failedLate } = at.harness.ways.refunds;
      // Without the trait, a rejection of what was made would contradict it.
      expect([failedLate, at.provider.payments.lateRefusals]).toContain('returned');
      const { marker, amountMinor } = order;
      expect(await refundIs(reference, failedLate)).toMatchObject({ id, marker, amountMinor });
      expect(await toldRefund(reference, failedLate)).toMatchObject({
        refund: { id, marker, amountMinor },
      });
    });

    test('one that needs an account of the customer waits for it, and is made once, also if the account is sent again', async () => {
      const { resumeRefund } = at.provider;
      if (!resumeRefund) return;
      const order = refundOrder(await paid(), 'needsAccount');
      const { reference } = order.charge;
      await refund(order);
      const id = String((await refundIs(reference, 'needs_account')).id);
      const resume = () => resumeRefund({ id, account: CUSTOMER }, never);
      expect(await resume()).toMatchObject({ kind: 'accepted', refund: { id } });
      const { amountMinor, marker } = order;
      expect(await refundIs(reference, 'succeeded')).toMatchObject({ id, marker, amountMinor });
      await resume();
      expect(await refundIs(reference, 'succeeded')).toMatchObject({ id, marker, amountMinor });
      const answer = await at.harness.unreachable.resumeRefund?.({ id, account: CUSTOMER }, never);
      expect(answer).toMatchObject({ kind: 'unknown' });
    });
  });

  describe('the sums of a payment', () => {
    test('a fee that the provider tells later is unknown first, and then listed and reported', async () => {
      if (at.harness.charges.feeLater === undefined) return;
      const order = chargeOrder('feeLater');
      const { amountMinor, reference } = order;
      const paidNow = { kind: 'succeeded', amountMinor, feeMinor: null };
      expect(await charge(order)).toMatchObject(paidNow);
      const reported = await told(
        reference,
        (each) =>
          each.subject === 'charge' &&
          each.state.kind === 'succeeded' &&
          each.state.feeMinor !== null,
      );
      const later = { kind: 'succeeded', amountMinor, feeMinor: expect.any(BigInt) as bigint };
      expect(reported).toMatchObject({ state: later });
      expect(await verify(reference)).toMatchObject(later);
    });

    test('a surcharge of the provider is told apart from the amount', async () => {
      const order = chargeOrder('surcharged');
      await charge(order);
      const found = await verify(order.reference);
      expect(found).toMatchObject({ kind: 'succeeded', amountMinor: order.amountMinor });
      if (found.kind !== 'succeeded') return;
      expect(found.surchargeMinor).toBeGreaterThan(0n);
      expect(found.feeMinor ?? 0n).toBeLessThanOrEqual(found.amountMinor);
    });
  });

  describe('the preparation of a charge', () => {
    test('moves nothing, may be repeated, and its charge is paid', async () => {
      const { prepareCharge } = at.provider;
      if (!prepareCharge) return;
      const order = chargeOrder('paid');
      const prepared = [await prepareCharge(order, never), await prepareCharge(order, never)];
      const [ready] = prepared;
      if (ready?.kind !== 'ready') throw new Error(`it is ${ready?.kind}`);
      expect(prepared[1]).toMatchObject({ kind: 'ready', handle: ready.handle });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
      expect(await charge(renewed(order), ready.handle)).toMatchObject({ kind: 'succeeded' });
      const { unreachable } = at.harness;
      expect(await unreachable.prepareCharge?.(order, never)).toMatchObject({ kind: 'unknown' });
    });

    test('is refused for a method that is not there, and a charge with a void one was not executed', async () => {
      const { prepareCharge } = at.provider;
      if (!prepareCharge) return;
      const nobody = { ...chargeOrder('paid'), method: 'authz_nowhere' };
      expect(await prepareCharge(nobody, never)).toMatchObject({
        kind: 'rejected',
        scope: 'request',
      });
      const order = chargeOrder('paid');
      expect(await charge(order, 'prp_nowhere')).toMatchObject({
        kind: 'rejected_temporarily',
        reason: 'stale_handle',
      });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
    });
  });
}
