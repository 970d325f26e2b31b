import { maskMessage } from '../../../src/core/provider-events/message.js';
import {
  CARD_SAFE_FIELDS,
  readCardMessage,
} from '../../../src/core/providers/sandbox-bank/card-events.js';
import {
  PAYMENT_SAFE_FIELDS,
  readPaymentMessage,
  readStoredPaymentMessage,
} from '../../../src/core/providers/sandbox-bank/payment-events.js';
import {
  readTransferMessage,
  TRANSFER_SAFE_FIELDS,
} from '../../../src/core/providers/sandbox-bank/transfer-events.js';
import { newId } from '../../../src/shared/ids.js';

const CARD_NUMBER = '4111111111111111';
const ACCOUNT = '0123456789';
const mask = (content: unknown, safe = TRANSFER_SAFE_FIELDS) =>
  maskMessage(Buffer.from(JSON.stringify(content)), safe);

const ADAPTERS = [
  ['transfers', TRANSFER_SAFE_FIELDS],
  ['payments', PAYMENT_SAFE_FIELDS],
  ['cards', CARD_SAFE_FIELDS],
] as const;

describe('the masked copy of a message', () => {
  test('keeps the structure, references, states, amounts and times; every other value becomes its type', () => {
    const reference = newId('transfer');
    const message = {
      id: 'evt_1',
      event: 'transfer.returned',
      occurred_at: '2026-11-21T09:30:00.000Z',
      data: {
        reference,
        amount_minor: 150_000,
        session_id: '090405261121093000123456789012',
        recipient: { account: ACCOUNT, name: 'Ada Obi', verified: true, age: 41 },
        notes: ['for Ada', null, { text: 'rent' }],
      },
    };
    expect(mask(message)).toEqual({
      ...message,
      data: {
        ...message.data,
        recipient: {
          account: '<string>',
          name: '<string>',
          verified: '<boolean>',
          age: '<number>',
        },
        notes: ['<string>', null, { text: '<string>' }],
      },
    });
  });

  test.each(ADAPTERS)(
    'of %s holds no account number, name or card number, wherever the message has them',
    (_port, safe) => {
      const values = [
        CARD_NUMBER,
        '4111 1111 1111 1111',
        '4111/1111/1111/1111',
        `card/${CARD_NUMBER}`,
        'a41111111/11111111',
        ACCOUNT,
        '01234/56789',
        `044/${ACCOUNT}`,
        'Ada Obi',
        'Ada/Obi',
        '21/11/1990',
        '09/31',
        'https://bank.example/1',
        Number(CARD_NUMBER),
      ];
      const names = [...Object.keys(safe), 'account', 'name', 'pan', 'email', ACCOUNT, 'toString'];
      for (const value of values) {
        const content = Object.fromEntries(
          names.map((name) => [name, { [name]: [value], x: value }]),
        );
        const flat = Object.fromEntries(names.map((name) => [name, value]));
        const copy = JSON.stringify([mask(content, safe), mask(flat, safe), mask([value], safe)]);
        expect(copy).not.toContain(String(value));
        expect(copy).not.toContain(ACCOUNT);
      }
    },
  );

  test.each(['090405/20261121-77', 'S/1', '2026/a1/b2'])(
    'keeps an id of the provider with slashes: %s',
    (id) => {
      expect(mask({ session_id: id })).toEqual({ session_id: id });
    },
  );

  test('keeps the id of a refund of ours in the provider’s note, and no other text', () => {
    const refund = newId('refund');
    const note = (text: string) => mask({ merchant_note: text }, PAYMENT_SAFE_FIELDS);
    expect(note(refund)).toEqual({ merchant_note: refund });
    expect(note('Ada')).toEqual({ merchant_note: '<string>' });
  });

  test('holds no authorization code of a customer', () => {
    const paid = { authorization: { authorization: 'auth_secret', reusable: true } };
    expect(JSON.stringify(mask(paid, PAYMENT_SAFE_FIELDS))).not.toContain('auth_secret');
  });

  test('of a body that is no JSON holds its length alone', () => {
    expect(maskMessage(Buffer.from(`card ${CARD_NUMBER}`), TRANSFER_SAFE_FIELDS)).toBe(
      '<21 bytes>',
    );
  });

  test('ends where a structure is deeper than any message', () => {
    const deep = `${'['.repeat(5_000)}1${']'.repeat(5_000)}`;
    expect(JSON.stringify(maskMessage(Buffer.from(deep), TRANSFER_SAFE_FIELDS))).toContain(
      '<array>',
    );
  });
});

describe('the masked copy of a readable message', () => {
  const hash = () => 'hash';
  const [transfer, charge, refund] = [newId('transfer'), newId('charge'), newId('refund')];
  const amount = { amount_minor: 150_000, currency: 'NGN', code: null };
  const event = (name: string, data: object) => ({
    id: 'evt_1',
    event: name,
    occurred_at: '2026-11-21T09:30:00.000Z',
    data,
  });
  const face = { brand: 'verve', last4: '4242', expiry_month: 9, expiry_year: 2031 };

  test.each([
    event('transfer.reversed', { reference: transfer, ...amount, session_id: '09-a' }),
    event('transfer.refused', { reference: transfer, ...amount, code: 'account_closed' }),
  ])('about a transfer is read as the message was: $event', (message) => {
    const copy = mask(message, TRANSFER_SAFE_FIELDS);
    expect(readTransferMessage(copy, hash)).toEqual(readTransferMessage(message, hash));
    expect(readTransferMessage(copy, hash).kind).toBe('event');
  });

  test.each([
    event('card.issued', { reference: newId('card'), card: 'ic_1', ...face }),
    event('card.funded', { reference: newId('cardOperation'), card: 'ic_1', ...amount }),
    event('card.cleared', { reference: 'auth_1', message_id: 'm_1', card: 'ic_1', ...amount }),
  ])('about a card is read as the message was: $event', (message) => {
    const copy = mask(message, CARD_SAFE_FIELDS);
    expect(readCardMessage(copy, hash)).toEqual(readCardMessage(message, hash));
    expect(readCardMessage(copy, hash).kind).toBe('event');
  });

  test('about a refund is read as the message was', () => {
    const given = { refund: 'rfnd_1', charge: `${charge}-1`, merchant_note: refund, ...amount };
    const message = event('refund.refunded', { ...given, status: 'refunded' });
    const copy = readStoredPaymentMessage(mask(message, PAYMENT_SAFE_FIELDS));
    expect(copy).toEqual(readPaymentMessage(message, hash));
    expect(copy.kind).toBe('event');
  });

  test('about a paid charge is read without the customer’s authorization', () => {
    const paid = { reference: `${charge}-1`, status: 'paid', paid_minor: 5, fee_minor: null };
    const authorization = { authorization: 'auth_secret', type: 'card', ...face, reusable: true };
    const bank = { bank_code: null, bank_name: null };
    const message = event('charge.paid', {
      ...paid,
      currency: 'NGN',
      authorization: { ...authorization, ...bank },
    });
    expect(readPaymentMessage(message, hash)).toMatchObject({
      event: { about: { state: { method: { code: 'auth_secret' } } } },
    });
    expect(readStoredPaymentMessage(mask(message, PAYMENT_SAFE_FIELDS))).toMatchObject({
      kind: 'event',
      event: {
        reference: paid.reference,
        about: { state: { kind: 'succeeded', amountMinor: 5n, method: null } },
      },
    });
  });

  test.each([
    ['transfers', readTransferMessage],
    ['payments', readPaymentMessage],
    ['cards', readCardMessage],
  ])('a notice of the bank is irrelevant to %s', (_port, read) => {
    expect(read(event('bank.notice', {}), hash)).toEqual({
      kind: 'irrelevant',
      dedupeKey: 'evt_1',
      name: 'bank.notice',
    });
  });
});
