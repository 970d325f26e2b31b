import type { About } from '../../src/core/providers/port.js';
import {
  about,
  never,
  ordersFor,
  renewed,
  RETURN_URL,
  unknown,
  type Subject,
} from './payment-subject.js';

export function describePages(at: Subject): void {
  const { pageOrder, chargeOrder, open, left, eventOf } = ordersFor(at);
  const verify = (reference: string) => at.provider.verifyCharge(about(reference), never);

  describe('a charge with the customer present', () => {
    test('a charge with a page awaits its customer until the customer has acted there', async () => {
      const order = pageOrder();
      expect(await at.provider.openPage(order, never)).toEqual({
        kind: 'page',
        url: expect.stringMatching(/^https?:\/\/\S+$/) as string,
        ...at.harness.ways.page,
        providerRequestId: expect.any(String) as string,
      });
      expect(await verify(order.reference)).toMatchObject(at.harness.ways.unpaid);
    });

    test('a paid page redirects with our reference, and creates a saved method', async () => {
      const order = pageOrder();
      const url = await open(order);
      const back = new URL((await at.harness.act(url, 'pay')) ?? '');
      const { references } = at.provider.payments;
      expect(back.searchParams.get('reference')).toBe(references.toTheirs(order.reference));
      for (const added of ['reference', ...at.harness.ways.adds]) back.searchParams.delete(added);
      expect(back.href).toBe(RETURN_URL);
      const state = await verify(order.reference);
      expect(state).toEqual({
        kind: 'succeeded',
        amountMinor: 300_000n,
        currency: 'NGN',
        feeMinor: expect.any(BigInt) as bigint,
        surchargeMinor: 0n,
        method: {
          code: expect.stringMatching(/^[A-Za-z]/) as string,
          type: 'card',
          brand: expect.stringMatching(/^[a-z_]+$/) as string,
          last4: expect.stringMatching(/^\d{4}$/) as string,
          expiryMonth: expect.any(Number) as number,
          expiryYear: expect.any(Number) as number,
          bankCode: null,
          bankName: at.harness.ways.cardBank,
          reusable: true,
          email: order.customer.email,
        },
        providerRequestId: expect.any(String) as string,
      });
      const [callback] = await at.harness.callbacksAbout(order.reference, 1);
      const { providerRequestId: _, ...told } = state;
      expect(eventOf(callback)).toMatchObject({
        name: at.harness.ways.events.paid,
        reference: order.reference,
        about: { subject: 'charge', state: told },
        occurredAt: expect.any(Date) as Date,
      });
    });

    test('a payment by bank account creates a mandate on that account, and shows only the account’s last digits', async () => {
      if (!at.harness.ways.accountsOnPages) return;
      const account = { type: 'bank_account', account: '0123456789', bankCode: '058' } as const;
      const method = await left('pay', pageOrder('page', account));
      expect(method).toMatchObject({
        type: 'bank_account',
        last4: '6789',
        bankCode: '058',
        bankName: expect.stringMatching(/\S/) as string,
        reusable: true,
      });
      const nowhere = pageOrder('page', { ...account, bankCode: '000' });
      expect(await at.provider.openPage(nowhere, never)).toMatchObject({
        kind: 'rejected',
        code: at.harness.refusals.page,
      });
    });

    test('a single-use method is marked as such and declined after its use, or is no saved method', async () => {
      if (at.harness.ways.singleUse === 'left_out') {
        const once = pageOrder();
        await at.harness.act(await open(once), 'pay_once');
        const paid = { kind: 'succeeded', method: null };
        return expect(await verify(once.reference)).toMatchObject(paid);
      }
      const { code: method, reusable } = await left('pay_once');
      expect(reusable).toBe(false);
      const order = { ...chargeOrder('paid'), method, handle: null };
      expect(await at.provider.confirmCharge(order, never)).toMatchObject({
        kind: 'declined',
        decline: 'hard',
      });
    });

    test('a declined or cancelled page is reported as such by verification, and by callback where the provider sends one', async () => {
      const { declinedPage, leftPage } = at.harness.ways;
      for (const [act, { state, event: name }] of [
        ['be_declined', declinedPage],
        ['leave', leftPage],
      ] as const) {
        const order = pageOrder();
        await at.harness.act(await open(order), act);
        expect(await verify(order.reference)).toMatchObject(state);
        if (name === null) continue;
        const [callback] = await at.harness.callbacksAbout(order.reference, 1);
        expect(eventOf(callback)).toMatchObject({ name, about: { subject: 'charge', state } });
      }
    });

    test('a charge that the provider delays awaits the provider once the customer has acted', async () => {
      if (at.harness.pages.pending === undefined) return;
      const order = pageOrder('pending');
      await at.harness.act(await open(order), 'pay');
      expect(await verify(order.reference)).toMatchObject({ kind: 'pending', awaits: 'provider' });
    });

    test('repeated requests and repeated actions of the customer lead to one page and one payment', async () => {
      const order = pageOrder();
      const url = await open(order);
      const repeat = () => at.provider.openPage(renewed(order), never);
      const again =
        at.provider.payments.pages === 'repeatable'
          ? { kind: 'page', url }
          : { kind: 'unknown', reason: 'conflict' };
      expect(await repeat()).toMatchObject(again);
      await at.harness.act(url, 'pay');
      const first = await verify(order.reference);
      await at.harness.act(url, 'leave');
      await at.harness.act(url, 'pay');
      expect(await repeat()).toMatchObject(again);
      expect(await verify(order.reference)).toEqual({
        ...first,
        providerRequestId: expect.any(String) as string,
      });
    });

    test('a page without an answer is unknown, its reference shows if it exists, and it may be requested again', async () => {
      const done = pageOrder('withoutAnswer');
      expect(await at.provider.openPage(done, never)).toEqual(unknown);
      expect(await verify(done.reference)).toMatchObject(at.harness.ways.unpaid);
      const lost = pageOrder('lost');
      expect(await at.provider.openPage(lost, never)).toEqual(unknown);
      expect(await verify(lost.reference)).toMatchObject({ kind: 'not_found' });
      const failing = pageOrder('failingFirst');
      for (const _ of [1, 2, 3]) {
        expect(await at.provider.openPage(renewed(failing), never)).toMatchObject({
          kind: 'unknown',
          reason: 'server_error',
        });
      }
      await open(renewed(failing));
      const throttled = pageOrder('throttledFirst');
      const { kind } = await at.provider.openPage(throttled, never);
      expect(kind).toBe('throttled');
      await open(renewed(throttled));
    });

    test('a page that a tenant cancels can never be paid, and a paid one stays paid', async () => {
      if (!at.provider.cancelCharge) return;
      const order = pageOrder();
      const url = await open(order);
      const cancel = () => at.provider.cancelCharge?.(about(order.reference), never);
      for (const _ of [1, 2]) expect(await cancel()).toMatchObject({ kind: 'cancelled' });
      await at.harness.act(url, 'pay');
      expect(await verify(order.reference)).toMatchObject({ kind: 'cancelled' });
      const paid = pageOrder();
      await at.harness.act(await open(paid), 'pay');
      expect(await at.provider.cancelCharge(about(paid.reference), never)).toMatchObject({
        kind: 'succeeded',
      });
      const nowhere = about(pageOrder().reference);
      expect(await at.provider.cancelCharge(nowhere, never)).toMatchObject({ kind: 'not_found' });
    });

    test('a setup saves a method without a payment, and the method can be charged', async () => {
      if (!at.provider.setUp || !at.provider.verifySetup) return;
      const { setup } = at.harness.ways;
      const { amountMinor: _, currency: __, ...order } = pageOrder('page', setup);
      const question: About = about(order.reference);
      expect(await at.provider.verifySetup(question, never)).toMatchObject({ kind: 'not_found' });
      const page = await at.provider.setUp(order, never);
      if (page.kind !== 'page') throw new Error(`the setup is ${page.kind}`);
      question.handle = page.handle;
      expect(await at.provider.verifySetup(question, never)).toMatchObject({ kind: 'pending' });
      expect(await verify(order.reference)).toMatchObject({ kind: 'not_found' });
      await at.harness.act(page.url, 'pay');
      const saved = await at.provider.verifySetup(question, never);
      if (saved.kind !== 'saved') throw new Error(`the method is ${saved.kind}`);
      const { email } = order.customer;
      expect(saved.method).toMatchObject({ type: setup.type, reusable: true, email });
      const charge = { ...chargeOrder('paid'), method: saved.method.code, handle: null };
      expect(await at.provider.confirmCharge(charge, never)).toMatchObject({ kind: 'succeeded' });
    });
  });
}
