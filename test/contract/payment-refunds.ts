import type { Refund, RefundRequest } from '../../src/core/providers/payment-provider.js';
import { never, ordersFor, renewed, unknown, type Subject } from './payment-subject.js';

export function describeRefunds(at: Subject): void {
  const { pageOrder, refundOrder, open, paid, eventOf } = ordersFor(at);
  const refund = (order: RefundRequest) => at.provider.refund(order, never);
  const find = async (charge: string): Promise<Refund[]> => {
    const answer = await at.provider.findRefunds(charge, never);
    if (answer.kind !== 'refunds') throw new Error(`the refunds are ${answer.kind}`);
    return answer.refunds;
  };

  describe('a refund', () => {
    test('has an id of the provider and our marker, and is found by its charge', async () => {
      const charge = await paid();
      expect(await find(charge)).toEqual([]);
      const order = refundOrder(charge);
      const made = {
        id: expect.stringMatching(/^[A-Za-z]/) as string,
        marker: order.marker,
        amountMinor: 100_000n,
        currency: 'NGN',
        state: { kind: 'refunded' },
      };
      expect(await refund(order)).toEqual({
        kind: 'taken',
        refund: made,
        providerRequestId: expect.any(String) as string,
      });
      expect(await find(charge)).toEqual([made]);
    });

    test('that is repeated refunds again: each has an id of its own', async () => {
      const order = refundOrder(await paid());
      for (const _ of [1, 2]) expect((await refund(renewed(order))).kind).toBe('taken');
      const found = await find(order.charge);
      expect(found.map(({ marker }) => marker)).toEqual([order.marker, order.marker]);
      expect(new Set(found.map(({ id }) => id)).size).toBe(2);
    });

    test('that is refused moves nothing, and says so in our words', async () => {
      const order = refundOrder(await paid(), 'refused');
      const state = { kind: 'rejected', code: at.harness.refusals.refund };
      expect(await refund(order)).toMatchObject({ kind: 'taken', refund: { state } });
      expect(await find(order.charge)).toMatchObject([{ marker: order.marker, state }]);
    });

    test('is never more than is left, and never of what was not paid', async () => {
      const charge = await paid();
      await refund(refundOrder(charge));
      const more = { ...refundOrder(charge), amountMinor: 200_001n };
      expect(await refund(more)).toMatchObject({ refund: { state: { code: 'exceeds_charge' } } });
      const page = pageOrder();
      await open(page);
      expect(await refund(refundOrder(page.reference))).toMatchObject({
        refund: { state: { code: 'charge_not_paid' } },
      });
      const { reference } = pageOrder();
      expect(await refund(refundOrder(reference))).toMatchObject({
        kind: 'rejected',
        code: 'charge_not_found',
      });
      expect(await at.provider.findRefunds(reference, never)).toMatchObject({ kind: 'not_found' });
    });

    test('that takes its time is told by callback, and then also to those who ask', async () => {
      const order = refundOrder(await paid(), 'later');
      const state = { kind: 'pending' };
      expect(await refund(order)).toMatchObject({ kind: 'taken', refund: { state } });
      expect(await find(order.charge)).toMatchObject([{ state }]);
      const [callback] = await at.harness.callbacksAbout(order.charge, 1);
      const done = { marker: order.marker, amountMinor: 100_000n, state: { kind: 'refunded' } };
      expect(eventOf(callback)).toMatchObject({
        name: 'refund.refunded',
        charge: order.charge,
        about: { subject: 'refund', refund: done },
      });
      for (;;) {
        if ((await find(order.charge))[0]?.state.kind === 'refunded') break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });

    test('without an answer is unknown; it is in the list if it was done, and not if it was not', async () => {
      const done = refundOrder(await paid(), 'withoutAnswer');
      expect(await refund(done)).toEqual(unknown);
      expect(await find(done.charge)).toMatchObject([{ marker: done.marker }]);
      const lost = refundOrder(await paid(), 'lost');
      expect(await refund(lost)).toEqual(unknown);
      expect(await find(lost.charge)).toEqual([]);
    });

    test('that met an error or a throttle was not done, and the same order is', async () => {
      for (const [scenario, kinds] of [
        ['failingFirst', ['unknown', 'unknown', 'unknown']],
        ['throttledFirst', ['throttled']],
      ] as const) {
        const order = refundOrder(await paid(), scenario);
        for (const kind of kinds) {
          expect((await refund(renewed(order))).kind).toBe(kind);
          expect(await find(order.charge)).toEqual([]);
        }
        expect((await refund(renewed(order))).kind).toBe('taken');
      }
    });

    test('where absence is final after a time, an older order is unknown and does nothing', async () => {
      const { refunds } = at.provider.payments;
      if (refunds.kind !== 'conclusive_after') return;
      const requestedAt = new Date(Date.now() - refunds.ms);
      const order = { ...refundOrder(await paid()), requestedAt };
      expect(await refund(order)).toMatchObject({ kind: 'unknown', reason: 'too_old' });
      expect(await find(order.charge)).toEqual([]);
    });
  });
}
