import { describeCharges } from './payment-charges.js';
import { describePaymentEvents } from './payment-incoming.js';
import { describePages } from './payment-pages.js';
import { describeRefunds } from './payment-refunds.js';
import { never, ordersFor, type PaymentHarness, type Subject } from './payment-subject.js';

/** The contract of every payment provider. Runs against the real provider, or its sandbox, over HTTP. */
export function describePaymentProvider(name: string, setup: () => Promise<PaymentHarness>): void {
  describe(`payment provider ${name}`, () => {
    const at = {} as Subject;
    const { pageOrder, chargeOrder, refundOrder, left } = ordersFor(at);

    beforeAll(async () => {
      at.harness = await setup();
      at.provider = at.harness.provider;
      at.authorization = await left();
    });
    afterAll(() => at.harness.close());

    describePages(at);
    describeCharges(at);
    describeRefunds(at);
    describePaymentEvents(at);

    test('a call to an unreachable payment provider is unknown, never an error and never a refusal', async () => {
      const away = { kind: 'unknown', reason: 'connection', providerRequestId: null };
      const { unreachable } = at.harness;
      const { reference } = chargeOrder('paid');
      for (const answer of await Promise.all([
        unreachable.initializeCharge(pageOrder(), never),
        unreachable.chargeAuthorization(chargeOrder('paid'), never),
        unreachable.verifyCharge(reference, never),
        unreachable.refund(refundOrder(reference), never),
        unreachable.findRefunds(reference, never),
        unreachable.revokeAuthorization(at.authorization.code, never),
      ])) {
        expect(answer).toEqual(away);
      }
    });

    test('a payment request that was aborted before it was sent is never sent', async () => {
      const gone = AbortSignal.abort();
      const charge = chargeOrder('paid');
      const page = pageOrder();
      const answers = [
        await at.provider.chargeAuthorization(charge, gone),
        await at.provider.initializeCharge(page, gone),
      ];
      expect(answers.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
      for (const { reference } of [charge, page]) {
        const { kind } = await at.provider.verifyCharge(reference, never);
        expect(kind).toBe('not_found');
      }
    });
  });
}
