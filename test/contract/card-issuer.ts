import { newId } from '../../src/ids.js';
import type {
  CardEventReading,
  CardIssuer,
  CardOrder,
  FindFundingAnswer,
  FundingOrder,
  StateOrder,
} from '../../src/providers/card-issuer.js';

/** What a client reference stands for. An issuer's own test values are mapped to these. */
export type IssueScenario = 'issued' | 'later' | 'refused' | 'withoutAnswer' | 'lost';
export type FundingScenario =
  | 'funded'
  | 'later'
  | 'refused'
  | 'withoutAnswer'
  | 'lost'
  | 'pending'
  | 'failingFirst'
  | 'reversedLater'
  | 'outOfOrder'
  | 'throttledFirst'
  | 'slow'
  | 'slowForGood';
export type StateScenario = 'set' | 'refusedTwice' | 'withoutAnswer' | 'lostOnce' | 'failingFirst';

export type Delivered = { raw: Buffer; headers: Record<string, string | undefined> };

export type CardIssuerHarness = {
  /** With a time limit of a second or less for each call. */
  issuer: CardIssuer;
  /** The same at an address where nobody listens. */
  unreachable: CardIssuer;
  issues: Record<IssueScenario, string>;
  fundings: Record<FundingScenario, string>;
  states: Record<StateScenario, string>;
  /** Our codes for the refusals. */
  refusals: { issue: string; funding: string; state: string };
  /** The first callbacks about a reference, as they came in over HTTP. */
  callbacksAbout(reference: string, count: number): Promise<Delivered[]>;
  /** Someone pays with the card; answers the request that comes in for it. */
  authorizationRequest(card: string, amountMinor: number): Promise<Delivered>;
  close(): Promise<void>;
};

const never = new AbortController().signal;

/** What every card issuer must do, whoever it is. Runs against the real issuer, or its sandbox, over HTTP. */
export function describeCardIssuer(name: string, setup: () => Promise<CardIssuerHarness>): void {
  describe(`card issuer ${name}`, () => {
    let harness: CardIssuerHarness;
    let issuer: CardIssuer;
    /** A card to work with. */
    let card: string;

    beforeAll(async () => {
      harness = await setup();
      issuer = harness.issuer;
      card = await newCard();
    });
    afterAll(() => harness.close());

    const cardOrder = (scenario: IssueScenario): CardOrder => ({
      reference: newId('transfer'),
      clientReference: harness.issues[scenario],
      type: 'virtual',
      name: 'Ada Obi',
      requestedAt: new Date(),
    });
    const fundingOrder = (scenario: FundingScenario, amountMinor = 250_000n): FundingOrder => ({
      reference: newId('transfer'),
      clientReference: harness.fundings[scenario],
      card,
      amountMinor,
      currency: 'NGN',
      requestedAt: new Date(),
    });
    const stateOrder = (
      scenario: StateScenario,
      state: StateOrder['state'],
      version: number,
      of = card,
    ): StateOrder => ({
      card: of,
      state,
      version,
      clientReference: harness.states[scenario],
      requestedAt: new Date(),
    });
    const renewed = <Order extends { requestedAt: Date }>(order: Order): Order => ({
      ...order,
      requestedAt: new Date(),
    });
    async function newCard(): Promise<string> {
      const answer = await issuer.issue(cardOrder('issued'), never);
      if (answer.kind !== 'issued') throw new Error(`the card is ${answer.kind}`);
      return answer.card;
    }
    const read = ({ raw, headers }: Delivered, now = new Date()): CardEventReading =>
      issuer.readEvent(raw, headers, now);
    const findUntil = async (reference: string, kind: FindFundingAnswer['kind']) => {
      for (;;) {
        const answer = await issuer.findFunding(reference, never);
        if (answer.kind === kind) return answer;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const unknown = { kind: 'unknown', reason: 'timeout', providerRequestId: null };

    describe('issuing', () => {
      const face = {
        kind: 'issued',
        card: expect.stringMatching(/^[A-Za-z]/) as string,
        brand: expect.stringMatching(/^[a-z_]+$/) as string,
        last4: expect.stringMatching(/^\d{4}$/) as string,
        expiryMonth: expect.any(Number) as number,
        expiryYear: expect.any(Number) as number,
        providerRequestId: expect.any(String) as string,
      };

      test('a card comes as an opaque id and what may be shown of it, and nothing else', async () => {
        const order = cardOrder('issued');
        const answer = await issuer.issue(order, never);
        expect(answer).toEqual(face);
        expect(await issuer.findCard(order.reference, never)).toEqual({
          ...answer,
          providerRequestId: expect.any(String) as string,
        });
      });

      test('a repeated order is the same card', async () => {
        const order = cardOrder('issued');
        const first = await issuer.issue(order, never);
        const second = await issuer.issue(renewed(order), never);
        expect(second).toEqual({ ...first, providerRequestId: expect.any(String) as string });
      });

      test('a card that is issued later is told by callback', async () => {
        const order = cardOrder('later');
        expect(await issuer.issue(order, never)).toMatchObject({ kind: 'pending' });
        expect(await issuer.findCard(order.reference, never)).toMatchObject({ kind: 'pending' });
        const [callback] = await harness.callbacksAbout(order.reference, 1);
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
        // Whoever was told its id can use it, also before the issuer knows that the callback was taken.
        const id = reading?.kind === 'event' ? (reading.event.card ?? '') : '';
        expect(await issuer.setState(stateOrder('set', 'locked', 1, id), never)).toMatchObject({
          kind: 'set',
        });
      });

      test('a conclusive refusal is told with our code', async () => {
        const order = cardOrder('refused');
        const refusal = { kind: 'refused', code: harness.refusals.issue };
        expect(await issuer.issue(order, never)).toMatchObject(refusal);
        expect(await issuer.findCard(order.reference, never)).toMatchObject(refusal);
      });

      test('an order without an answer is unknown; asked by reference, it was done or it was not', async () => {
        const done = cardOrder('withoutAnswer');
        expect(await issuer.issue(done, never)).toEqual(unknown);
        expect(await issuer.findCard(done.reference, never)).toMatchObject({ kind: 'issued' });
        const lost = cardOrder('lost');
        expect(await issuer.issue(lost, never)).toEqual(unknown);
        expect(await issuer.findCard(lost.reference, never)).toMatchObject({ kind: 'not_found' });
      });
    });

    describe('funding', () => {
      /** What takes its time at the issuer, begun together. */
      let later: FundingOrder;
      let reversed: FundingOrder;
      let shuffled: FundingOrder;
      let begun: string[];

      beforeAll(async () => {
        later = fundingOrder('later');
        reversed = fundingOrder('reversedLater');
        shuffled = fundingOrder('outOfOrder');
        const orders = [later, reversed, shuffled];
        const answers = await Promise.all(orders.map((order) => issuer.fund(order, never)));
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
          expect(await issuer.fund(order, never)).toEqual(funded);
          expect(await issuer.findFunding(order.reference, never)).toEqual(funded);
        },
      );

      test('a conclusive refusal is told with our code', async () => {
        const order = fundingOrder('refused');
        const refusal = { kind: 'refused', code: harness.refusals.funding };
        expect(await issuer.fund(order, never)).toMatchObject(refusal);
        expect(await issuer.findFunding(order.reference, never)).toMatchObject(refusal);
      });

      test('a funding of a card that is not there is refused', async () => {
        const order = { ...fundingOrder('funded'), card: 'card_nowhere' };
        expect(await issuer.fund(order, never)).toMatchObject({
          kind: 'refused',
          code: 'card_not_found',
        });
      });

      test('a pending funding is told by callback, and then also to those who ask', async () => {
        expect(begun[0]).toBe('pending');
        const [callback] = await harness.callbacksAbout(later.reference, 1);
        expect(callback && read(callback)).toMatchObject({
          kind: 'event',
          event: {
            name: 'card.funded',
            card,
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
        const callbacks = await harness.callbacksAbout(shuffled.reference, 4);
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

      test('a funding that the issuer takes back is told by callback', async () => {
        expect(begun[1]).toBe('funded');
        const [callback] = await harness.callbacksAbout(reversed.reference, 1);
        const state = { kind: 'reversed', amountMinor: 250_000n };
        expect(callback && read(callback)).toMatchObject({
          event: { name: 'card.funding_reversed', state: { subject: 'funding', state } },
        });
        expect(await issuer.findFunding(reversed.reference, never)).toMatchObject(state);
      });

      test('a funding without an answer is unknown; asked by reference, it is found', async () => {
        for (const scenario of ['withoutAnswer', 'slow'] as const) {
          const order = fundingOrder(scenario);
          expect(await issuer.fund(order, never)).toEqual(unknown);
          expect(await issuer.findFunding(order.reference, never)).toMatchObject({
            kind: 'funded',
            amountMinor: 250_000n,
          });
        }
      });

      test('a funding without an answer that did nothing is unknown, and not found when asked', async () => {
        const order = fundingOrder('lost');
        expect(await issuer.fund(order, never)).toEqual(unknown);
        expect(await issuer.findFunding(order.reference, never)).toMatchObject({
          kind: 'not_found',
        });
      });

      test('an error of the issuer is unknown, and what it did not do is not found', async () => {
        const order = fundingOrder('failingFirst');
        for (const _ of [1, 2, 3]) {
          const again = renewed(order);
          expect(await issuer.fund(again, never)).toMatchObject({
            kind: 'unknown',
            reason: 'server_error',
          });
          expect(await issuer.findFunding(order.reference, never)).toMatchObject({
            kind: 'not_found',
          });
        }
        expect(await issuer.fund(renewed(order), never)).toMatchObject({ kind: 'funded' });
      });

      test('throttled means not taken, with a pause; after that the same order is funded', async () => {
        const order = fundingOrder('throttledFirst');
        const answer = await issuer.fund(order, never);
        expect(answer).toMatchObject({ kind: 'throttled' });
        expect(answer.kind === 'throttled' && answer.retryAfterMs).toBeGreaterThan(0);
        expect(await issuer.findFunding(order.reference, never)).toMatchObject({
          kind: 'not_found',
        });
        expect(await issuer.fund(renewed(order), never)).toMatchObject({ kind: 'funded' });
      });

      test('a reference that was never used is not found, a pending one is pending', async () => {
        const reference = newId('transfer');
        const missing = { kind: 'not_found' };
        expect(await issuer.findFunding(reference, never)).toMatchObject(missing);
        expect(await issuer.findCard(reference, never)).toMatchObject(missing);
        expect(await issuer.reverseFunding(reference, never)).toMatchObject(missing);
        expect(await issuer.readState('card_nowhere', never)).toMatchObject(missing);
        const order = fundingOrder('pending');
        expect(await issuer.fund(order, never)).toMatchObject({ kind: 'pending' });
        expect(await issuer.findFunding(order.reference, never)).toMatchObject({
          kind: 'pending',
        });
      });

      test('where the issuer de-duplicates, a repeat is the first, and another amount is no refusal of it', async () => {
        if (issuer.cards.absence.kind !== 'deduplicates') return;
        const order = fundingOrder('funded');
        const first = await issuer.fund(order, never);
        const second = await issuer.fund(renewed(order), never);
        expect(second).toEqual({ ...first, providerRequestId: expect.any(String) as string });
        const other = await issuer.fund({ ...order, amountMinor: 1n }, never);
        expect(['unknown', 'funded']).toContain(other.kind);
        expect(await issuer.findFunding(order.reference, never)).toMatchObject({
          amountMinor: 250_000n,
        });
      });

      test('where absence is final after a time, an older order is unknown and does nothing', async () => {
        const { absence } = issuer.cards;
        if (absence.kind !== 'final_after') return;
        const order = {
          ...fundingOrder('funded'),
          requestedAt: new Date(Date.now() - absence.ms),
        };
        expect(await issuer.fund(order, never)).toMatchObject({
          kind: 'unknown',
          reason: 'too_old',
        });
        expect(await issuer.findFunding(order.reference, never)).toMatchObject({
          kind: 'not_found',
        });
      });
    });

    describe('reversing a funding', () => {
      const notFunded = async (reference: string) => {
        const { kind } = await issuer.findFunding(reference, never);
        expect(['reversed', 'refused']).toContain(kind);
      };

      test.each(['funded', 'withoutAnswer', 'slow', 'pending', 'refused'] as const)(
        'nothing of a funding (%s) stays on the card, however often it is asked for',
        async (scenario) => {
          const order = fundingOrder(scenario);
          await issuer.fund(order, never);
          for (const _ of [1, 2]) {
            expect(await issuer.reverseFunding(order.reference, never)).toMatchObject({
              kind: 'reversed',
            });
            await notFunded(order.reference);
          }
        },
      );

      test('what can not be reversed is refused, and stays funded', async () => {
        const order = fundingOrder('slowForGood');
        expect(await issuer.fund(order, never)).toEqual(unknown);
        expect(await issuer.reverseFunding(order.reference, never)).toMatchObject({
          kind: 'refused',
          code: 'not_reversible',
        });
        expect(await issuer.findFunding(order.reference, never)).toMatchObject({ kind: 'funded' });
      });
    });

    describe('the state of a card', () => {
      let own: string;
      const set = (scenario: StateScenario, state: StateOrder['state'], version: number) =>
        issuer.setState(stateOrder(scenario, state, version, own), never);
      const current = async () => {
        const answer = await issuer.readState(own, never);
        return answer.kind === 'state' ? [answer.state, answer.version] : answer;
      };

      beforeEach(async () => {
        own = await newCard();
      });

      test('a new card is open; it is locked and opened again, and every order may be repeated', async () => {
        expect(await current()).toEqual(['open', 0]);
        for (const [state, version] of [
          ['locked', 1],
          ['locked', 1],
          ['open', 2],
          ['open', 5],
        ] as const) {
          expect(await set('set', state, version)).toMatchObject({ kind: 'set' });
          expect(await current()).toEqual([state, version]);
        }
      });

      test('an older version never overwrites a newer one', async () => {
        await set('set', 'locked', 7);
        for (const version of [6, 1]) {
          expect(await set('set', 'open', version)).toMatchObject({
            kind: 'refused',
            code: 'superseded',
          });
        }
        expect(await set('set', 'open', 7)).toMatchObject({ kind: 'refused' });
        expect(await current()).toEqual(['locked', 7]);
      });

      test('a closed card stays closed, and is not funded', async () => {
        expect(await set('set', 'closed', 1)).toMatchObject({ kind: 'set' });
        expect(await set('set', 'open', 2)).toMatchObject({ kind: 'refused', code: 'card_closed' });
        expect(await set('set', 'closed', 2)).toMatchObject({ kind: 'set' });
        const order = { ...fundingOrder('funded'), card: own };
        expect(await issuer.fund(order, never)).toMatchObject({
          kind: 'refused',
          code: 'card_closed',
        });
      });

      test.each([
        ['refusedTwice', 2, () => ({ kind: 'refused', code: harness.refusals.state })],
        ['lostOnce', 1, () => unknown],
        ['failingFirst', 3, () => ({ kind: 'unknown', reason: 'server_error' })],
      ] as const)('%s: nothing is set %d times, then it is', async (scenario, times, answer) => {
        for (let i = 0; i < times; i += 1) {
          expect(await set(scenario, 'locked', 1)).toMatchObject(answer());
          expect(await current()).toEqual(['open', 0]);
        }
        expect(await set(scenario, 'locked', 1)).toMatchObject({ kind: 'set' });
        expect(await current()).toEqual(['locked', 1]);
      });

      test('an order without an answer is unknown; asked, the state says that it was done', async () => {
        expect(await set('withoutAnswer', 'locked', 1)).toEqual(unknown);
        expect(await current()).toEqual(['locked', 1]);
      });

      test('an order about a card that is not there is refused', async () => {
        own = 'card_nowhere';
        expect(await set('set', 'locked', 1)).toMatchObject({
          kind: 'refused',
          code: 'card_not_found',
        });
      });
    });

    test('an issuer that cannot be reached is unknown, never an error and never a refusal', async () => {
      const away = { kind: 'unknown', reason: 'connection', providerRequestId: null };
      const { unreachable } = harness;
      const { reference } = fundingOrder('funded');
      for (const answer of await Promise.all([
        unreachable.issue(cardOrder('issued'), never),
        unreachable.findCard(reference, never),
        unreachable.fund(fundingOrder('funded'), never),
        unreachable.findFunding(reference, never),
        unreachable.reverseFunding(reference, never),
        unreachable.setState(stateOrder('set', 'locked', 1), never),
        unreachable.readState(card, never),
      ])) {
        expect(answer).toEqual(away);
      }
    });

    test('an order that was given up before it was sent is never sent', async () => {
      const order = fundingOrder('funded');
      const ordered = cardOrder('issued');
      const gone = AbortSignal.abort();
      const answers = [await issuer.fund(order, gone), await issuer.issue(ordered, gone)];
      expect(answers.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
      const missing = { kind: 'not_found' };
      expect(await issuer.findFunding(order.reference, never)).toMatchObject(missing);
      expect(await issuer.findCard(ordered.reference, never)).toMatchObject(missing);
    });

    describe('what comes in', () => {
      let delivered: Delivered;
      let request: Delivered;

      beforeAll(async () => {
        const order = fundingOrder('later');
        await issuer.fund(order, never);
        const [first] = await harness.callbacksAbout(order.reference, 1);
        if (!first) throw new Error('no callback');
        delivered = first;
        request = await harness.authorizationRequest(card, 12_345);
      });

      test('an authorization request is read, and a decision is rendered', () => {
        expect(read(request)).toEqual({
          kind: 'authorization',
          request: {
            token: expect.stringMatching(/\S/) as string,
            card,
            amountMinor: 12_345n,
            currency: 'NGN',
            channel: expect.stringMatching(/^(online|pos|atm|contactless)$/) as string,
            merchant: {
              name: expect.stringMatching(/\S/) as string,
              category: expect.stringMatching(/^\d{4}$/) as string,
              country: expect.stringMatching(/^[A-Z]{2}$/) as string,
            },
            requestedAt: expect.any(Date) as Date,
          },
        });
        for (const approved of [true, false]) {
          const { status, body } = issuer.renderDecision({ approved, code: 'approved' });
          expect(status).toBeGreaterThanOrEqual(200);
          expect(status).toBeLessThan(500);
          expect(JSON.parse(JSON.stringify(body))).toEqual(body);
        }
      });

      test('a repeat of one delivery reads the same', () => {
        for (const each of [delivered, request]) {
          expect(read(each).kind).not.toBe('ignored');
          expect(read(each)).toEqual(read(each));
        }
      });

      test('any changed byte of the body is a bad signature, and so is an old one', () => {
        const bad = { kind: 'bad_signature' };
        for (const { raw, headers } of [delivered, request]) {
          for (let i = 0; i < raw.length; i += 7) {
            const changed = Buffer.from(raw);
            changed[i] = (changed[i] ?? 0) ^ 1;
            expect(read({ raw: changed, headers })).toEqual(bad);
          }
          expect(read({ raw: Buffer.alloc(0), headers })).toEqual(bad);
          expect(read({ raw, headers }, new Date(Date.now() + 3_600_000))).toEqual(bad);
          expect(read({ raw, headers }, new Date(Date.now() - 3_600_000))).toEqual(bad);
        }
      });

      test('missing, cut, changed or foreign signatures are bad ones', () => {
        const bad = { kind: 'bad_signature' };
        const { raw, headers } = delivered;
        expect(read({ raw, headers: {} })).toEqual(bad);
        for (const [header, value] of Object.entries(headers)) {
          if (!header.startsWith('x-') || value === undefined) continue;
          for (const wrong of [undefined, '', value.slice(1), `${value}0`, '0'.repeat(128), 'ä']) {
            expect(read({ raw, headers: { ...headers, [header]: wrong } })).toEqual(bad);
          }
        }
      });

      test('reading never throws, whatever comes in', () => {
        for (const raw of ['', '{', 'null', '[1]', '\u0000\ufffd']) {
          const { headers } = delivered;
          expect(() => read({ raw: Buffer.from(raw), headers })).not.toThrow();
        }
      });
    });
  });
}
