import type { CardFundingRequest } from '../../src/core/providers/card-issuer.js';
import { about, never, ordersFor, renewed, unknown, type Subject } from './card-subject.js';

/** The contract of issuers that hold the balances of cards: what is on a card can be taken back. */
export function describeUnloads(at: Subject): void {
  const { fundingOrder, read } = ordersFor(at);

  /** The calls of an issuer that holds balances. */
  const missing = async () => Promise.reject(new Error('the issuer cannot unload cards'));
  const calls = () => ({
    unload: async (order: CardFundingRequest) => at.issuer.unload?.(order, never) ?? missing(),
    findUnload: async (reference: string) =>
      at.issuer.findUnload?.(about(reference), never) ?? missing(),
  });

  describe('unloading', () => {
    test('an amount is given back to the unit, also by a closed card, and is found by its reference', async () => {
      const { unload, findUnload } = calls();
      const card = await ordersFor(at).newCard();
      await at.issuer.fund({ ...fundingOrder('funded'), card }, never);
      await at.issuer.setState(ordersFor(at).stateOrder('set', 'closed', 1, card), never);
      const order = { ...fundingOrder('funded'), card };
      const done = { kind: 'unloaded', amountMinor: 250_000n };
      expect(await unload(order)).toMatchObject(done);
      expect(await findUnload(order.reference)).toMatchObject(done);
      // It is no funding.
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
        kind: 'not_found',
      });
    });

    test('a refusal is conclusive; without an answer it is unknown, and found by its reference', async () => {
      const { unload, findUnload } = calls();
      const refused = fundingOrder('refused');
      expect(await unload(refused)).toMatchObject({ kind: 'rejected' });
      expect(await findUnload(refused.reference)).toMatchObject({ kind: 'rejected' });
      const done = fundingOrder('withoutAnswer');
      expect(await unload(done)).toEqual(unknown);
      expect(await findUnload(done.reference)).toMatchObject({ kind: 'unloaded' });
      const lost = fundingOrder('lost');
      expect(await unload(lost)).toEqual(unknown);
      expect(await findUnload(lost.reference)).toMatchObject({ kind: 'not_found' });
    });

    test('a repeat at an issuer that de-duplicates gives back once', async () => {
      if (at.issuer.cards.resendSafety.kind !== 'idempotent') return;
      const { unload } = calls();
      const order = fundingOrder('funded');
      const first = await unload(order);
      const second = await unload(renewed(order));
      expect(second).toEqual({ ...first, providerRequestId: expect.any(String) as string });
    });

    test('the outcome of a pending one is reported by callback', async () => {
      const { unload } = calls();
      const order = fundingOrder('later');
      expect(await unload(order)).toMatchObject({ kind: 'pending' });
      const [callback] = await at.harness.callbacksAbout(order.reference, 1);
      expect(callback && read(callback)).toMatchObject({
        event: {
          name: 'card.unloaded',
          card: at.card,
          state: { subject: 'unload', state: { kind: 'unloaded', amountMinor: 250_000n } },
        },
      });
    });
  });
}
