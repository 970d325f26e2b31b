import { createHmac } from 'node:crypto';
import { createSandboxBankIssuer } from '../../src/core/providers/sandbox-bank/card-adapter.js';
import { optionsAt, SECRET } from '../sandbox-bank/support.js';

const issuer = createSandboxBankIssuer(optionsAt('http://127.0.0.1:1'));

describe('card events of the sandbox bank', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const data = {
    reference: 'r',
    message_id: 'm',
    card: 'card_1',
    amount_minor: 700,
    currency: 'NGN',
    code: null,
  };
  const event = { id: 'evt_1', event: 'card.cleared', occurred_at: '2026-11-20T09:00:00Z', data };
  const read = (content: unknown, signedAt = now) => {
    const body = typeof content === 'string' ? content : JSON.stringify(content);
    const timestamp = String(signedAt.getTime() / 1000);
    const signature = createHmac('sha512', SECRET).update(`${timestamp}.${body}`).digest('hex');
    const headers = {
      'x-sandbox-bank-timestamp': timestamp,
      'x-sandbox-bank-signature': signature,
    };
    return issuer.readMessage(Buffer.from(body), headers, now);
  };
  /** The provider's type of a message, if it has one. */
  const nameIn = (content: unknown) =>
    (typeof content === 'object' && (content as { event?: string }).event) || null;
  const minutes = (n: number) => new Date(now.getTime() + n * 60_000);

  const reports = [
    ['card.cleared', {}, { kind: 'cleared', amountMinor: 700n, final: true, forced: false }],
    [
      'card.cleared',
      { final: false, forced: true },
      { kind: 'cleared', amountMinor: 700n, final: false, forced: true },
    ],
    ['card.declined', {}, { kind: 'declined', whole: false, code: 'no_answer' }],
    ['card.authorization_reversed', {}, { kind: 'reversed', amountMinor: null }],
    ['card.authorization_reversed', { whole: false }, { kind: 'reversed', amountMinor: 700n }],
    ['card.authorization_expired', {}, { kind: 'expired' }],
    ['card.refunded', {}, { kind: 'refunded', amountMinor: 700n }],
    ['card.refund_reversed', {}, { kind: 'refund_reversed', amountMinor: 700n }],
    ['card.corrected', { amount_minor: -5 }, { kind: 'corrected', amountMinor: -5n }],
    ['card.authorization_advice', {}, { kind: 'approved', amountMinor: 700n, standIn: 'network' }],
  ] as const;

  test.each(reports)('%s with %j is read', (name, changes, state) => {
    expect(read({ ...event, event: name, data: { ...data, ...changes } })).toEqual({
      kind: 'event',
      event: {
        dedupeKey: 'evt_1',
        card: 'card_1',
        reference: 'r',
        name,
        state: { subject: 'authorization', state: { messageId: 'm', ...state } },
        occurredAt: new Date(event.occurred_at),
      },
    });
  });

  test.each(reports)(
    '%s with %j and without an id, by which it counts once, is unreadable',
    (name, changes) => {
      const told = { ...data, ...changes, message_id: undefined };
      expect(read({ ...event, event: name, data: told })).toMatchObject({
        kind: 'unreadable',
        name,
      });
    },
  );

  test('a refused funding has our code', () => {
    const told = { ...event, event: 'card.funding_refused', data: { ...data, code: 'declined' } };
    expect(read(told)).toMatchObject({
      event: {
        state: { subject: 'funding', state: { kind: 'rejected', code: 'provider_declined' } },
      },
    });
  });

  test('a signature is good for five minutes either way', () => {
    expect(read(event, minutes(-5)).kind).toBe('event');
    expect(read(event, minutes(5)).kind).toBe('event');
    expect(read(event, minutes(-5.1)).kind).toBe('bad_signature');
    expect(read(event, minutes(5.1)).kind).toBe('bad_signature');
  });

  test('an authentic event of an unknown type is unreadable under its id', () => {
    const unreadable = { kind: 'unreadable', dedupeKey: 'evt_1' };
    for (const name of ['card.embossed', 'constructor']) {
      expect(read({ ...event, event: name, data: null })).toEqual({ ...unreadable, name });
    }
    expect(read({ ...event, event: 'card.embossed' })).toMatchObject(unreadable);
  });

  test.each([
    'not json',
    'null',
    {},
    { ...event, data: { ...data, amount_minor: '700' } },
    { ...event, data: { ...data, amount_minor: -1 } },
    { ...event, event: 'card.authorization_advice', data: { ...data, message_id: undefined } },
    { ...event, data: { ...data, card: '4242424242424242' } },
    { ...event, event: 'card.issued' },
  ])('an authentic body that cannot be read is unreadable under its hash: %j', (content) => {
    expect(read(content)).toEqual({
      kind: 'unreadable',
      name: nameIn(content),
      dedupeKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  const asked = {
    ...event,
    event: 'card.authorization_requested',
    data: {
      reference: 'token',
      card: 'card_1',
      amount_minor: 700,
      currency: 'NGN',
      channel: 'pos',
      merchant: { name: 'Kofi Stores', category: '5411', country: 'GH' },
      requested_at: '2026-11-20T09:00:00Z',
    },
  };
  const told = {
    cash_minor: 200,
    merchant_amount: { amount_minor: 6_300, currency: 'GHS' },
    initiator: 'merchant',
    hold_until: '2026-12-20T09:00:00+01:00',
    answer_by: '2026-11-20T09:00:01Z',
  };

  test('a request has what the issuer says of its cash, its amount abroad, its initiator, the end of its hold and its own deadline', () => {
    expect(read({ ...asked, data: { ...asked.data, ...told } })).toMatchObject({
      kind: 'authorization',
      request: {
        cashMinor: 200n,
        merchantAmount: { amountMinor: 6_300n, currency: 'GHS' },
        initiator: 'merchant',
        holdUntil: new Date('2026-12-20T08:00:00Z'),
        answerBy: new Date('2026-11-20T09:00:01Z'),
      },
    });
  });

  test.each([
    [{ cash_minor: 0.5 }, { cashMinor: null }],
    [{ cash_minor: -1 }, { cashMinor: null }],
    [{ merchant_amount: { amount_minor: '6300', currency: 'GHS' } }, { merchantAmount: null }],
    [{ merchant_amount: { amount_minor: 6_300, currency: 'cedi' } }, { merchantAmount: null }],
    [{ initiator: 'a bank' }, { initiator: null }],
    [{ hold_until: 'tomorrow' }, { holdUntil: null }],
  ])('a request with %j is decided without that detail', (wrong, without) => {
    const answer = read({ ...asked, data: { ...asked.data, ...told, ...wrong } });
    expect(answer).toMatchObject({ kind: 'authorization', request: without });
  });

  test('a request whose deadline cannot be read is unreadable, and declined', () => {
    const wrong = { ...asked, data: { ...asked.data, ...told, answer_by: 1_500 } };
    expect(read(wrong)).toMatchObject({
      kind: 'unreadable',
      reply: { body: { approved: false } },
    });
  });

  test('an authentic request for a decision that cannot be read is unreadable, and declined in the answer', () => {
    expect(read({ ...event, event: 'card.authorization_requested' })).toEqual({
      kind: 'unreadable',
      name: 'card.authorization_requested',
      dedupeKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      reply: {
        status: 200,
        body: { approved: false, code: 'unreadable_request', approved_amount_minor: 0 },
      },
    });
  });
});
