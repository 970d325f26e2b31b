import { readAll } from '../../src/core/providers/pages.js';
import type { About } from '../../src/core/providers/port.js';
import type { Refund, RefundRequest } from '../../src/core/providers/payment-provider.js';
import { about, never, ordersFor, renewed, unknown, type Subject } from './payment-subject.js';

export function describeRefunds(at: Subject): void {
  const { pageOrder, refundOrder, open, paid, eventOf } = ordersFor(at);
  const refund = (order: RefundRequest) => at.provider.refund(order, never);
  const since = new Date(Date.now() - 60_000);
  const find = async ({ reference, handle }: About): Promise<Refund[]> => {
    const answer = await readAll((cursor) =>
      at.provider.findRefunds({ reference, handle, since, cursor }, never),
    );
    if (answer.kind !== 'all') throw new Error(`the refunds are ${answer.kind}`);
    return answer.items.filter(({ charge }) => charge.reference === reference);
  };

  /** The answer to a refund with this outcome. */
  const answered = (outcome: object) =>
    at.harness.ways.refunds.outcomes === 'at_once' ? outcome : { state: 'pending' };
  /** The refunds of a charge, once the first one has this state. */
  async function findUntil(charge: About, state: Refund['state']): Promise<Refund[]> {
    for (;;) {
      const found = await find(charge);
      if (found[0]?.state === state) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  describe('a refund', () => {
    test('a refund has an id of the provider and our marker, and is found by its charge', async () => {
      const charge = await paid();
      expect(await find(about(charge))).toEqual([]);
      const order = refundOrder(charge);
      const made = {
        id: expect.stringMatching(/^\w+$/) as string,
        marker: order.marker,
        charge: { reference: charge, handle: at.harness.ways.refunds.chargeHandle },
        dispute: null,
        amountMinor: 100_000n,
        currency: 'NGN',
        state: 'succeeded',
      };
      expect(await refund(order)).toEqual({
        kind: 'accepted',
        refund: { ...made, ...answered({}) },
        providerRequestId: expect.any(String) as string,
      });
      expect(await findUntil(about(charge), 'succeeded')).toEqual([made]);
    });

    test('a repeated refund refunds again, with an id of its own', async () => {
      const order = refundOrder(await paid());
      for (const _ of [1, 2]) expect((await refund(renewed(order))).kind).toBe('accepted');
      const found = await find(order.charge);
      expect(found.map(({ marker }) => marker)).toEqual([order.marker, order.marker]);
      expect(new Set(found.map(({ id }) => id)).size).toBe(2);
    });

    test('a refused refund moves nothing, and is reported with our code where the provider names a reason', async () => {
      const order = refundOrder(await paid(), 'refused');
      const { refund: code } = at.harness.refusals;
      const refused = { state: 'rejected', ...(code !== null && { code }) };
      expect(await refund(order)).toMatchObject({ kind: 'accepted', refund: answered(refused) });
      const found = await findUntil(order.charge, 'rejected');
      expect(found).toMatchObject([{ marker: order.marker, ...refused }]);
    });

    test('a refund never exceeds the remaining amount, and needs a paid charge', async () => {
      const charge = await paid();
      await refund(refundOrder(charge));
      const more = { ...refundOrder(charge), amountMinor: 200_001n };
      const { exceeds, notPaid } = at.harness.ways.refunds;
      expect(await refund(more)).toMatchObject(exceeds);
      const page = pageOrder();
      await open(page);
      expect(await refund(refundOrder(page.reference))).toMatchObject(notPaid);
      const { reference } = pageOrder();
      expect(await refund(refundOrder(reference))).toMatchObject({
        kind: 'rejected',
        code: 'charge_not_found',
      });
      expect(
        await at.provider.findRefunds({ ...about(reference), since, cursor: null }, never),
      ).toMatchObject({ kind: 'not_found' });
    });

    test('the outcome of a delayed refund is reported by callback, and afterwards by verification', async () => {
      const order = refundOrder(await paid(), 'later');
      const state = 'pending';
      expect(await refund(order)).toMatchObject({ kind: 'accepted', refund: { state } });
      const [found] = await find(order.charge);
      const { outcomes } = at.harness.ways.refunds;
      expect([state, outcomes === 'later' ? 'succeeded' : state]).toContain(found?.state);
      const [callback] = await at.harness.callbacksAbout(order.charge.reference, 1);
      const done = { marker: order.marker, amountMinor: 100_000n, state: 'succeeded' };
      expect(eventOf(callback)).toMatchObject({
        name: at.harness.ways.events.refunded,
        reference: order.charge.reference,
        about: { subject: 'refund', refund: done },
      });
      await findUntil(order.charge, 'succeeded');
    });

    test('a refund without an answer is unknown, and is in the list only if it was executed', async () => {
      const done = refundOrder(await paid(), 'withoutAnswer');
      expect(await refund(done)).toEqual(unknown);
      expect(await find(done.charge)).toMatchObject([{ marker: done.marker }]);
      const lost = refundOrder(await paid(), 'lost');
      expect(await refund(lost)).toEqual(unknown);
      expect(await find(lost.charge)).toEqual([]);
    });

    test('a refund with an error or a throttle was not executed, and is when it is submitted again', async () => {
      for (const [scenario, kinds] of [
        ['failingFirst', ['unknown', 'unknown', 'unknown']],
        ['throttledFirst', ['throttled']],
      ] as const) {
        const order = refundOrder(await paid(), scenario);
        for (const kind of kinds) {
          expect((await refund(renewed(order))).kind).toBe(kind);
          expect(await find(order.charge)).toEqual([]);
        }
        expect((await refund(renewed(order))).kind).toBe('accepted');
      }
    });

    test('an older refund at a provider whose absence is conclusive after a time is unknown and has no effect', async () => {
      const { refunds } = at.provider.payments;
      if (refunds.kind !== 'conclusive_after') return;
      const requestedAt = new Date(Date.now() - refunds.ms);
      const order = { ...refundOrder(await paid()), requestedAt };
      expect(await refund(order)).toMatchObject({ kind: 'unknown', reason: 'too_old' });
      expect(await find(order.charge)).toEqual([]);
    });
  });
}
