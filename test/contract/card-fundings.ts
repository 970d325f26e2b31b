import { newId } from '../../src/shared/ids.js';
import type {
  FindFundingAnswer,
  CardFundingRequest,
} from '../../src/core/providers/card-issuer.js';
import { about, never, ordersFor, renewed, unknown, type Subject } from './card-subject.js';

export function describeFundings(at: Subject): void {
  const { fundingOrder, stateOrder, newCard, read } = ordersFor(at);
  const findUntil = async (reference: string, kind: FindFundingAnswer['kind']) => {
    for (;;) {
      const answer = await at.issuer.findFunding(about(reference), never);
      if (answer.kind === kind) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  describe('funding', () => {
    /** Fundings that the issuer delays, submitted together so that the suite waits once. */
    let later: CardFundingRequest;
    let reversed: CardFundingRequest;
    let shuffled: CardFundingRequest;
    let begun: string[];

    beforeAll(async () => {
      later = fundingOrder('later');
      reversed = fundingOrder('reversedLater');
      shuffled = fundingOrder('outOfOrder');
      const orders = [later, reversed, shuffled];
      const answers = await Promise.all(orders.map((order) => at.issuer.fund(order, never)));
      begun = answers.map(({ kind }) => kind);
    });

    test.each([1n, 100n, 99_999_999n, 500_000_000n])(
      'the amount %s arrives to the unit, with the trace of the call',
      async (amountMinor) => {
        const order = fundingOrder('funded', amountMinor);
        const funded = {
          kind: 'funded',
          amountMinor,
          providerRequestId: expect.any(String) as string,
        };
        expect(await at.issuer.fund(order, never)).toEqual(funded);
        expect(await at.issuer.findFunding(about(order.reference), never)).toEqual(funded);
      },
    );

    test('two cards of one holder are apart, and so is their money', async () => {
      // Both have the client reference of the holder.
      const [one, other] = [await newCard(), await newCard()];
      expect(one).not.toBe(other);
      const [first, second] = [
        { ...fundingOrder('later', 700n), card: one },
        { ...fundingOrder('later', 900n), card: other },
      ];
      await Promise.all([first, second].map((order) => at.issuer.fund(order, never)));
      for (const { reference, card, amountMinor } of [first, second]) {
        const [callback] = await at.harness.callbacksAbout(reference, 1);
        const state = { subject: 'funding', state: { kind: 'funded', amountMinor } };
        expect(callback && read(callback)).toMatchObject({ event: { card, reference, state } });
      }
      expect(await at.issuer.reverseFunding(about(first.reference), never)).toMatchObject({
        kind: 'reversed',
      });
      expect(await at.issuer.findFunding(about(second.reference), never)).toMatchObject({
        kind: 'funded',
        amountMinor: 900n,
      });
      await at.issuer.setState(stateOrder('set', 'closed', 1, one), never);
      const closed = { ...fundingOrder('funded'), card: one };
      const open = { ...fundingOrder('funded'), card: other };
      expect(await at.issuer.fund(closed, never)).toMatchObject({
        kind: 'rejected',
        code: 'card_closed',
      });
      expect(await at.issuer.fund(open, never)).toMatchObject({ kind: 'funded' });
    });

    test('a conclusive refusal of a funding is reported with our code', async () => {
      const order = fundingOrder('refused');
      const refusal = { kind: 'rejected', code: at.harness.refusals.funding };
      expect(await at.issuer.fund(order, never)).toMatchObject(refusal);
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject(refusal);
    });

    test('a funding of a card that is not there is refused', async () => {
      const order = { ...fundingOrder('funded'), card: 'card_nowhere' };
      expect(await at.issuer.fund(order, never)).toMatchObject({
        kind: 'rejected',
        code: 'card_not_found',
      });
    });

    test('the outcome of a pending funding is reported by callback, and afterwards by verification', async () => {
      expect(begun[0]).toBe('pending');
      const [callback] = await at.harness.callbacksAbout(later.reference, 1);
      expect(callback && read(callback)).toMatchObject({
        kind: 'event',
        event: {
          name: 'card.funded',
          card: at.card,
          reference: later.reference,
          state: { subject: 'funding', state: { kind: 'funded', amountMinor: 250_000n } },
          occurredAt: expect.any(Date) as Date,
        },
      });
      expect(await findUntil(later.reference, 'funded')).toMatchObject({
        amountMinor: 250_000n,
      });
    });

    test('callbacks may come several times and out of order; repeats of one event have one key', async () => {
      expect(begun[2]).toBe('pending');
      const callbacks = await at.harness.callbacksAbout(shuffled.reference, 4);
      const events = callbacks.map((each) => {
        const reading = read(each);
        if (reading.kind !== 'event') throw new Error(`the callback is ${reading.kind}`);
        return reading.event;
      });
      expect(events.map(({ name: event }) => event)).toEqual([
        'card.funded',
        'card.funding_pending',
        'card.funded',
        'card.funded',
      ]);
      expect(new Set(events.map(({ dedupeKey }) => dedupeKey)).size).toBe(3);
      expect(events[1]?.state).toEqual({ subject: 'funding', state: { kind: 'pending' } });
    });

    test('a funding that the issuer reverses is reported by callback', async () => {
      expect(begun[1]).toBe('funded');
      const [callback] = await at.harness.callbacksAbout(reversed.reference, 1);
      const state = { kind: 'reversed', amountMinor: 250_000n };
      expect(callback && read(callback)).toMatchObject({
        event: { name: 'card.funding_reversed', state: { subject: 'funding', state } },
      });
      expect(await at.issuer.findFunding(about(reversed.reference), never)).toMatchObject(state);
    });

    test('a funding without an answer is unknown, and is found by its reference', async () => {
      for (const scenario of ['withoutAnswer', 'slow'] as const) {
        const order = fundingOrder(scenario);
        expect(await at.issuer.fund(order, never)).toEqual(unknown);
        expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
          kind: 'funded',
          amountMinor: 250_000n,
        });
      }
    });

    test('a funding without an answer and without effect is unknown, and verified as not found', async () => {
      const order = fundingOrder('lost');
      expect(await at.issuer.fund(order, never)).toEqual(unknown);
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
        kind: 'not_found',
      });
    });

    test('an error of the issuer is unknown, and a funding that was not executed is not found', async () => {
      const order = fundingOrder('failingFirst');
      for (const _ of [1, 2, 3]) {
        const again = renewed(order);
        expect(await at.issuer.fund(again, never)).toMatchObject({
          kind: 'unknown',
          reason: 'server_error',
        });
        expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
          kind: 'not_found',
        });
      }
      expect(await at.issuer.fund(renewed(order), never)).toMatchObject({ kind: 'funded' });
    });

    test('a throttled funding was not executed, has a pause, and is funded when it is submitted again', async () => {
      const order = fundingOrder('throttledFirst');
      const answer = await at.issuer.fund(order, never);
      expect(answer).toMatchObject({ kind: 'throttled' });
      expect(answer.kind === 'throttled' && answer.retryAfterMs).toBeGreaterThan(0);
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
        kind: 'not_found',
      });
      expect(await at.issuer.fund(renewed(order), never)).toMatchObject({ kind: 'funded' });
    });

    test('an id that the issuer does not know is no evidence that a card was not funded', async () => {
      const order = fundingOrder('funded');
      await at.issuer.fund(order, never);
      const named = { reference: order.reference, handle: 'id_of_nobody' };
      const { kind } = await at.issuer.findFunding(named, never);
      expect(['funded', 'unknown']).toContain(kind);
    });

    test('a reference that was never used is not found, a pending one is pending', async () => {
      const reference = newId('transfer');
      const missing = { kind: 'not_found' };
      expect(await at.issuer.findFunding(about(reference), never)).toMatchObject(missing);
      expect(await at.issuer.findCard(about(reference), never)).toMatchObject(missing);
      expect(await at.issuer.reverseFunding(about(reference), never)).toMatchObject(missing);
      expect(await at.issuer.readState('card_nowhere', never)).toMatchObject(missing);
      const order = fundingOrder('pending');
      expect(await at.issuer.fund(order, never)).toMatchObject({ kind: 'pending' });
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
        kind: 'pending',
      });
    });

    test('a repeat at an issuer that de-duplicates gets the first result, and another amount does not reject the first', async () => {
      if (at.issuer.cards.resendSafety.kind !== 'idempotent') return;
      const order = fundingOrder('funded');
      const first = await at.issuer.fund(order, never);
      const second = await at.issuer.fund(renewed(order), never);
      expect(second).toEqual({ ...first, providerRequestId: expect.any(String) as string });
      const other = await at.issuer.fund({ ...order, amountMinor: 1n }, never);
      expect(['unknown', 'funded']).toContain(other.kind);
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
        amountMinor: 250_000n,
      });
    });

    test('an older request at an issuer whose absence is conclusive after a time is unknown and has no effect', async () => {
      const { resendSafety } = at.issuer.cards;
      if (resendSafety.kind !== 'conclusive_after') return;
      const order = {
        ...fundingOrder('funded'),
        requestedAt: new Date(Date.now() - resendSafety.ms),
      };
      expect(await at.issuer.fund(order, never)).toMatchObject({
        kind: 'unknown',
        reason: 'too_old',
      });
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
        kind: 'not_found',
      });
    });
  });

  describe('reversing a funding', () => {
    const notFunded = async (reference: string) => {
      const { kind } = await at.issuer.findFunding(about(reference), never);
      expect(['reversed', 'rejected']).toContain(kind);
    };

    test.each(['funded', 'withoutAnswer', 'slow', 'pending', 'refused'] as const)(
      'nothing of a funding (%s) stays on the card, however often it is asked for',
      async (scenario) => {
        const order = fundingOrder(scenario);
        await at.issuer.fund(order, never);
        for (const _ of [1, 2]) {
          expect(await at.issuer.reverseFunding(about(order.reference), never)).toMatchObject({
            kind: 'reversed',
          });
          await notFunded(order.reference);
        }
      },
    );

    test('the reversal of a funding that cannot be reversed is refused, and the card stays funded', async () => {
      const order = fundingOrder('slowForGood');
      expect(await at.issuer.fund(order, never)).toEqual(unknown);
      expect(await at.issuer.reverseFunding(about(order.reference), never)).toMatchObject({
        kind: 'rejected',
        code: 'not_reversible',
      });
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
        kind: 'funded',
      });
    });
  });
}
