import { newId } from '../../src/shared/ids.js';
import { describeAfterwards } from './payment-afterwards.js';
import { describeCharges } from './payment-charges.js';
import { describePaymentEvents } from './payment-incoming.js';
import { describePages } from './payment-pages.js';
import { describeRefunds } from './payment-refunds.js';
import { about, never, ordersFor, type PaymentHarness, type Subject } from './payment-subject.js';

/** The contract of every payment provider. Runs against the real provider, or its sandbox, over HTTP. */
export function describePaymentProvider(name: string, setup: () => Promise<PaymentHarness>): void {
  describe(`payment provider ${name}`, () => {
    const at = {} as Subject;
    const { pageOrder, chargeOrder, refundOrder, left } = ordersFor(at);

    beforeAll(async () => {
      at.harness = await setup();
      at.provider = at.harness.provider;
      at.method = await left();
    });
    afterAll(() => at.harness.close());

    describePages(at);
    describeCharges(at);
    describeRefunds(at);
    describeAfterwards(at);
    describePaymentEvents(at);

    test('the traits name a rate for each call, and references that the provider accepts come back as ours', () => {
      const { references, rates, currencies, charges } = at.provider.payments;
      // Its cancellation is the proof that a charge was never executed.
      expect(charges.kind === 'fence' && !at.provider.cancelCharge).toBe(false);
      expect(currencies).toContain('NGN');
      for (const { bucket, perSecond } of Object.values(rates)) {
        expect([bucket.length > 0, perSecond > 0]).toEqual([true, true]);
      }
      for (const ours of [`${newId('charge')}-1`, `${newId('charge')}-12`, newId('paymentToken')]) {
        const theirs = references.toTheirs(ours);
        expect(theirs).toMatch(references.pattern);
        expect(theirs.length).toBeLessThanOrEqual(references.maxLength);
        expect(references.toOurs(theirs)).toBe(ours);
      }
    });

    test('a call to an unreachable payment provider is unknown, never an error and never a refusal', async () => {
      const away = { kind: 'unknown', reason: 'connection', providerRequestId: null };
      const { unreachable } = at.harness;
      const { reference } = chargeOrder('paid');
      const find = { ...about(reference), since: new Date(), cursor: null };
      for (const answer of await Promise.all([
        unreachable.openPage(pageOrder(), never),
        unreachable.confirmCharge({ ...chargeOrder('paid'), handle: null }, never),
        unreachable.verifyCharge(about(reference), never),
        unreachable.refund(refundOrder(reference), never),
        unreachable.findRefunds(find, never),
        unreachable.findDisputes(find, never),
        unreachable.revokeMethod({ code: at.method.code }, never),
        unreachable.listDisputes?.({ from: find.since, to: find.since, cursor: null }, never) ??
          away,
      ])) {
        expect(answer).toEqual(away);
      }
    });

    test('a payment request that was aborted before it was sent is never sent', async () => {
      const gone = AbortSignal.abort();
      const charge = chargeOrder('paid');
      const page = pageOrder();
      const answers = [
        await at.provider.confirmCharge({ ...charge, handle: null }, gone),
        await at.provider.openPage(page, gone),
      ];
      expect(answers.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
      for (const { reference } of [charge, page]) {
        const { kind } = await at.provider.verifyCharge(about(reference), never);
        expect(kind).toBe('not_found');
      }
    });
  });
}
