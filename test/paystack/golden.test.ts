import { createHmac } from 'node:crypto';
import { maskMessage } from '../../src/core/provider-events/message.js';
import { readCharge } from '../../src/core/providers/paystack/charge-calls.js';
import { disputeData, disputeOf } from '../../src/core/providers/paystack/dispute-wire.js';
import { SAFE_FIELDS } from '../../src/core/providers/paystack/messages.js';
import { createPaymentReader } from '../../src/core/providers/paystack/payment-events.js';
import { readRefunds } from '../../src/core/providers/paystack/refund-calls.js';
import { readTransfer } from '../../src/core/providers/paystack/transfer-calls.js';
import { createTransferReader } from '../../src/core/providers/paystack/transfer-events.js';
import { CHARGE_ANSWERS, CHARGES } from './golden/payments.js';
import { DISPUTES, PAYMENT_MESSAGES, REFUNDS } from './golden/refunds.js';
import { TRANSFER_ANSWERS, TRANSFER_MESSAGES, TRANSFERS } from './golden/transfers.js';

const KEY = 'sk_test_inventedkey0000';
const settings = { keys: [KEY], domain: 'test' } as const;
const wire = { ...settings, url: 'https://api.paystack.co', isOfficial: true };
const meta = { page: 1, pageCount: '1', perPage: '100' };

/** As the wire has it: what JSON drops is dropped. */
const sent = (data: unknown): unknown => JSON.parse(JSON.stringify(data));
const reading = (expected: unknown) => expect.objectContaining(expected as object) as unknown;

describe('answers about transfers', () => {
  test.each(TRANSFER_ANSWERS)('%s (%s)', (_what, _source, data, expected) => {
    expect(readTransfer({ data: sent(data), meta }, TRANSFERS.reference, 'test')).toEqual(expected);
  });
});

describe('answers about charges', () => {
  test.each(CHARGE_ANSWERS)('%s (%s)', (_what, _source, data, expected) => {
    expect(readCharge({ data: sent(data), meta }, CHARGES.ours, wire)).toEqual(expected);
  });
});

describe('rows of the list of refunds', () => {
  const wanted = { reference: CHARGES.ours, transaction: String(CHARGES.paid.id) };

  test.each(REFUNDS)('%s (%s)', (_what, _source, row, expected) => {
    const page = { kind: 'page', items: [expected], next: null };
    expect(readRefunds({ data: [sent(row)], meta }, wanted, 1)).toEqual(page);
  });

  test('an unknown word makes the page of its charge unknown, and no other page', () => {
    const [, , row] = REFUNDS[0] ?? [];
    const odd = { ...(sent(row) as object), status: 'parked' };
    const read = (data: unknown) => readRefunds({ data, meta }, wanted, 1);
    expect(read([odd])).toEqual({ kind: 'unknown', reason: 'unrecognized', word: 'parked' });
    const other = { ...odd, transaction: { id: 5, reference: 'T77' } };
    expect(read([other])).toEqual({ kind: 'page', items: [], next: null });
  });
});

describe('disputes', () => {
  test.each(DISPUTES)('%s', (_what, row, expected) => {
    expect(disputeOf(disputeData.parse(sent(row)))).toEqual(expected);
  });
});

describe.each([
  ['transfers', createTransferReader(settings), TRANSFER_MESSAGES],
  ['payments', createPaymentReader(settings), PAYMENT_MESSAGES],
] as const)('messages about %s', (_port, reader, messages) => {
  const now = new Date();
  const read = (body: unknown, key = KEY) => {
    const raw = Buffer.from(JSON.stringify(body));
    const signature = createHmac('sha512', key).update(raw).digest('hex');
    return reader.readMessage(raw, { 'x-paystack-signature': signature }, now);
  };

  test.each(messages)('%s', (_what, body, expected) => {
    const { kind, ...rest } = expected as { kind: string; [name: string]: unknown };
    const found = read(body);
    expect(found.kind).toBe(kind);
    for (const [name, value] of Object.entries(rest)) {
      const { event } = found as { event: Record<string, unknown> };
      expect(event[name]).toEqual(deep(value));
    }
  });

  test('a message under another key is not read', () => {
    expect(read(messages[0]?.[1], 'sk_test_another00000')).toEqual({ kind: 'bad_signature' });
  });

  test('the repeat of a message has its key, and another status of its record has not', () => {
    const [[, first] = [], [, second] = []] = messages;
    const keyOf = (body: unknown) =>
      (read(body) as { event?: { dedupeKey: string } }).event?.dedupeKey;
    expect(keyOf(first)).toBeDefined();
    expect(keyOf(first)).toBe(keyOf(sent(first)));
    expect(keyOf(first)).not.toBe(keyOf(second));
  });

  test('the stored copy holds no e-mail, no account and no code of a method, and can still be read', () => {
    for (const [, body, expected] of messages) {
      const copy = maskMessage(Buffer.from(JSON.stringify(body)), SAFE_FIELDS);
      const text = JSON.stringify(copy);
      for (const secret of [
        'payer@example.com',
        '0009990001',
        'AUTH_',
        'Invented Payee',
        '506102',
      ]) {
        expect(text).not.toContain(secret);
      }
      expect(reader.readStored(copy).kind).toBe((expected as { kind: string }).kind);
    }
  });
});

/** A partial match, at each level. */
function deep(value: unknown): unknown {
  if (
    typeof value !== 'object' ||
    value === null ||
    value instanceof Date ||
    Array.isArray(value)
  ) {
    return value;
  }
  return reading(Object.fromEntries(Object.entries(value).map(([key, each]) => [key, deep(each)])));
}
