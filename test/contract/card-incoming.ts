import { never, ordersFor, type Delivered, type Subject } from './card-subject.js';

export function describeCardEvents(at: Subject): void {
  const { cardOrder, read } = ordersFor(at);

  describe('messages from the issuer', () => {
    let delivered: Delivered;
    let request: Delivered;

    beforeAll(async () => {
      const order = cardOrder('later');
      await at.issuer.issue(order, never);
      const [first] = await at.harness.callbacksAbout(order.reference, 1);
      if (!first) throw new Error('no callback');
      delivered = first;
      request = await at.harness.authorizationRequest(at.card, 12_345);
    });

    test('an authorization request is read, and a decision is rendered', () => {
      expect(read(request)).toEqual({
        kind: 'authorization',
        request: {
          token: expect.stringMatching(/\S/) as string,
          messageId: expect.stringMatching(/\S/) as string,
          card: at.card,
          kind: 'authorization',
          basis: 'step',
          amountMinor: 12_345n,
          holdMinor: null,
          partialApproval: false,
          currency: 'NGN',
          channel: expect.stringMatching(/^(online|pos|atm|contactless)$/) as string,
          merchant: {
            name: expect.stringMatching(/\S/) as string,
            category: expect.stringMatching(/^\d{4}$/) as string,
            country: expect.stringMatching(/^[A-Z]{2}$/) as string,
          },
          cashMinor: null,
          merchantAmount: null,
          initiator: null,
          holdUntil: null,
          answerBy: null,
          requestedAt: expect.any(Date) as Date,
        },
      });
      const asked = read(request);
      if (asked.kind !== 'authorization') throw new Error('no request');
      for (const approved of [true, false]) {
        const decision = { approved, code: 'approved', approvedMinor: 5n, availableMinor: 7n };
        const { status, body } = at.issuer.renderDecision(asked.request, decision);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
        expect(JSON.parse(JSON.stringify(body))).toEqual(body);
      }
    });

    test('everything that was reported about a payment is found by its token', async () => {
      const reading = read(request);
      if (reading.kind !== 'authorization') throw new Error('no request');
      const found = await at.issuer.findAuthorization(reading.request.token, never);
      expect(found).toMatchObject({ kind: 'authorization', over: false, reports: [] });
      const unknown = await at.issuer.findAuthorization('nothing', never);
      expect(unknown.kind).toBe('not_found');
      const silent = at.harness.unreachable.findAuthorization(reading.request.token, never);
      expect((await silent).kind).toBe('unknown');
    });

    test('a request is named as approved once the answer has arrived: what is said before to be over has not this hold', async () => {
      const { request: waiting, approve } = await at.harness.unansweredRequest(at.card, 7_531);
      const reading = read(waiting);
      if (reading.kind !== 'authorization') throw new Error('no request');
      const { token, messageId } = reading.request;
      const before = await at.issuer.findAuthorization(token, never);
      expect(before).toMatchObject({ kind: 'authorization', over: true, approved: [] });
      await approve();
      const after = await at.issuer.findAuthorization(token, never);
      expect(after).toMatchObject({ kind: 'authorization', over: false, approved: [messageId] });
    });

    test('without an answer the issuer repeats the request, and decides, as its traits say', async () => {
      const requests = await at.harness.requestsWithoutAnswer(at.card, 6_420);
      const asked = requests.map((each) => {
        const reading = read(each);
        if (reading.kind !== 'authorization') throw new Error('no request');
        return reading.request;
      });
      const { asksAgain, onSilence } = at.issuer.cards.decision;
      expect(asked.length > 1).toBe(asksAgain);
      expect(new Set(asked.map(({ messageId }) => messageId)).size).toBe(1);
      const found = await at.issuer.findAuthorization(asked[0]?.token ?? '', never);
      if (found.kind !== 'authorization') throw new Error(`the payment is ${found.kind}`);
      const kinds = { decline: ['declined'], stand_in: ['approved'], configured: null }[onSilence];
      if (kinds) expect(found.reports.map(({ state }) => state.kind)).toEqual(kinds);
      expect(found.approved).toEqual([]);
    });

    test('a report has the same id in its message and in the answer to a query, and no other report has it', async () => {
      const asked = read(await at.harness.authorizationRequest(at.card, 9_000));
      if (asked.kind !== 'authorization') throw new Error('no request');
      const { token } = asked.request;
      const messages = await at.harness.reportedClearings(token, [1_000, 1_000, 2_500]);
      const told = messages.map((message) => {
        const reading = read(message);
        if (reading.kind !== 'event' || reading.event.state.subject !== 'authorization') {
          throw new Error(`not a report about a payment: ${JSON.stringify(reading.kind)}`);
        }
        const { state, occurredAt } = reading.event;
        return { state: state.state, at: occurredAt };
      });
      const found = await at.issuer.findAuthorization(token, never);
      if (found.kind !== 'authorization') throw new Error(`the payment is ${found.kind}`);
      expect(told.map(({ state }) => state.kind)).toEqual(['cleared', 'cleared', 'cleared']);
      expect(found.reports).toEqual(told);
      expect(new Set(told.map(({ state }) => state.messageId)).size).toBe(3);
    });

    test('a message with several reports reads as all of them, each with an id of its own, as a query finds them', async () => {
      const [paid, message] = await at.harness.reportedTogether(at.card, 10_000);
      const [asked, reading] = [read(paid), read(message)];
      if (asked.kind !== 'authorization') throw new Error('no request');
      if (reading.kind !== 'event') throw new Error(`the message is ${reading.kind}`);
      const { reports = [], card, reference } = reading.event;
      expect([card, reference]).toEqual([at.card, asked.request.token]);
      expect(reports.length).toBeGreaterThan(1);
      expect(new Set(reports.map(({ state }) => state.messageId)).size).toBe(reports.length);
      const found = await at.issuer.findAuthorization(asked.request.token, never);
      expect(found).toMatchObject({ kind: 'authorization', reports });
      expect(read(message)).toEqual(reading);
    });

    test('a repeat of one delivery reads the same', () => {
      for (const each of [delivered, request]) {
        expect(read(each).kind).not.toBe('unreadable');
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
}
