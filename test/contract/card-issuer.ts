import { newId } from '../../src/shared/ids.js';
import { describeDisputes } from './card-disputes.js';
import { describeFundings } from './card-fundings.js';
import { describeCardEvents } from './card-incoming.js';
import { describeUnloads } from './card-unloads.js';
import { describeCardStates } from './card-states.js';
import {
  about,
  never,
  ordersFor,
  renewed,
  unknown,
  type CardIssuerHarness,
  type IssuerTraits,
  type Subject,
} from './card-subject.js';

/** The contract of every card issuer. Runs against the real issuer, or its sandbox, over HTTP. */
export function describeCardIssuer(
  name: string,
  setup: () => Promise<CardIssuerHarness>,
  traits: IssuerTraits = { balances: 'issuer', stateSequence: 'issuer' },
): void {
  describe(`card issuer ${name}`, () => {
    const at = {} as Subject;
    const orders = ordersFor(at);
    const { cardOrder, fundingOrder, stateOrder, read } = orders;

    beforeAll(async () => {
      at.harness = await setup();
      at.issuer = at.harness.issuer;
      at.card = await orders.newCard();
    });
    afterAll(() => at.harness.close());

    test('the traits name a currency, a rate for each call, and references that the issuer accepts and that come back as ours', () => {
      const { references, rates, currencies, types } = at.issuer.cards;
      expect(currencies).toContain('NGN');
      expect(types.length).toBeGreaterThan(0);
      const calls = ['issue', 'state', 'fund', 'unload', 'dispute', 'find'];
      expect(Object.keys(rates)).toEqual(expect.arrayContaining(calls));
      for (const { bucket, perSecond } of Object.values(rates)) {
        expect([bucket.length > 0, perSecond > 0]).toEqual([true, true]);
      }
      for (const ours of [newId('card'), newId('cardOperation'), newId('cardDispute')]) {
        const theirs = references.toTheirs(ours);
        expect(theirs).toMatch(references.pattern);
        expect(theirs.length).toBeLessThanOrEqual(references.maxLength);
        expect(references.toOurs(theirs)).toBe(ours);
      }
    });

    test('an issuer that holds the balances can be asked for them back', () => {
      expect(at.issuer.cards).toMatchObject(traits);
      const canUnload = 'unload' in at.issuer && 'findUnload' in at.issuer;
      expect(canUnload || at.issuer.cards.balances === 'ours').toBe(true);
    });

    describe('issuing', () => {
      const face = {
        kind: 'issued',
        card: expect.stringMatching(/^[A-Za-z0-9_-]+$/) as string,
        brand: expect.stringMatching(/^[a-z_]+$/) as string,
        last4: expect.stringMatching(/^\d{4}$/) as string,
        expiryMonth: expect.any(Number) as number,
        expiryYear: expect.any(Number) as number,
        needsActivation: false,
        providerRequestId: expect.any(String) as string,
      };

      test('an issued card has an opaque id and the fields that may be shown, and no others', async () => {
        const order = cardOrder('issued');
        const answer = await at.issuer.issue(order, never);
        expect(answer).toEqual(face);
        expect(await at.issuer.findCard(about(order.reference), never)).toEqual({
          ...answer,
          providerRequestId: expect.any(String) as string,
        });
      });

      test('a repeated request returns the same card', async () => {
        const order = cardOrder('issued');
        const first = await at.issuer.issue(order, never);
        const second = await at.issuer.issue(renewed(order), never);
        expect(second).toEqual({ ...first, providerRequestId: expect.any(String) as string });
      });

      test('a card that is issued later is reported by callback', async () => {
        const order = cardOrder('later');
        expect(await at.issuer.issue(order, never)).toMatchObject({ kind: 'pending' });
        expect(await at.issuer.findCard(about(order.reference), never)).toMatchObject({
          kind: 'pending',
        });
        const [callback] = await at.harness.callbacksAbout(order.reference, 1);
        const reading = callback && read(callback);
        const { providerRequestId: _, ...issued } = face;
        expect(reading).toMatchObject({
          kind: 'event',
          event: {
            name: 'card.issued',
            reference: order.reference,
            state: { subject: 'card', state: issued },
          },
        });
        // The card is usable from its callback on, before the issuer knows that the callback was accepted.
        const id = reading?.kind === 'event' ? (reading.event.card ?? '') : '';
        expect(await at.issuer.setState(stateOrder('set', 'locked', 1, id), never)).toMatchObject({
          kind: 'set',
        });
      });

      test('a conclusive refusal of an issuance is reported with our code', async () => {
        const order = cardOrder('refused');
        const refusal = { kind: 'rejected', code: at.harness.refusals.issue };
        expect(await at.issuer.issue(order, never)).toMatchObject(refusal);
        expect(await at.issuer.findCard(about(order.reference), never)).toMatchObject(refusal);
      });

      test('an issuance without an answer is unknown, and its reference shows if it was executed', async () => {
        const done = cardOrder('withoutAnswer');
        expect(await at.issuer.issue(done, never)).toEqual(unknown);
        expect(await at.issuer.findCard(about(done.reference), never)).toMatchObject({
          kind: 'issued',
        });
        const lost = cardOrder('lost');
        expect(await at.issuer.issue(lost, never)).toEqual(unknown);
        expect(await at.issuer.findCard(about(lost.reference), never)).toMatchObject({
          kind: 'not_found',
        });
      });
    });

    if (traits.balances === 'issuer') {
      describeFundings(at);
      describeUnloads(at);
    } else {
      test('an issuer that holds no balances funds no card', async () => {
        const order = fundingOrder('funded');
        expect(await at.issuer.fund(order, never)).toMatchObject({ kind: 'unknown' });
        expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject({
          kind: 'not_found',
        });
      });
    }
    describeDisputes(at);
    describeCardStates(at, traits);
    describeCardEvents(at);

    test('a call to an unreachable issuer is unknown, never an error and never a refusal', async () => {
      const away = { kind: 'unknown', reason: 'connection', providerRequestId: null };
      const { unreachable } = at.harness;
      const { reference } = fundingOrder('funded');
      for (const answer of await Promise.all([
        unreachable.issue(cardOrder('issued'), never),
        unreachable.findCard(about(reference), never),
        unreachable.fund(fundingOrder('funded'), never),
        unreachable.findFunding(about(reference), never),
        unreachable.reverseFunding(about(reference), never),
        unreachable.unload?.(fundingOrder('funded'), never),
        unreachable.findUnload?.(about(reference), never),
        unreachable.findDispute?.(about(reference), never),
        unreachable.withdrawDispute?.(about(reference), never),
        unreachable.setState(stateOrder('set', 'locked', 1), never),
        unreachable.readState(at.card, never),
      ])) {
        expect(answer).toEqual(away);
      }
    });

    test('a request that was aborted before it was sent is never sent', async () => {
      const order = fundingOrder('funded');
      const ordered = cardOrder('issued');
      const gone = AbortSignal.abort();
      const answers = [await at.issuer.fund(order, gone), await at.issuer.issue(ordered, gone)];
      expect(answers.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
      const missing = { kind: 'not_found' };
      expect(await at.issuer.findFunding(about(order.reference), never)).toMatchObject(missing);
      expect(await at.issuer.findCard(about(ordered.reference), never)).toMatchObject(missing);
    });
  });
}
