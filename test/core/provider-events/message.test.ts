import { maskMessage } from '../../../src/core/provider-events/message.js';
import { CARD_SAFE_FIELDS } from '../../../src/core/providers/sandbox-bank/card-events.js';
import { PAYMENT_SAFE_FIELDS } from '../../../src/core/providers/sandbox-bank/payment-events.js';
import { TRANSFER_SAFE_FIELDS } from '../../../src/core/providers/sandbox-bank/transfer-events.js';
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
      const values = [CARD_NUMBER, '4111 1111 1111 1111', ACCOUNT, 'Ada Obi', Number(CARD_NUMBER)];
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
