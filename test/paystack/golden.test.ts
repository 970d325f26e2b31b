import { createHmac } from 'node:crypto';
import { maskMessage } from '../../src/core/provider-events/message.js';
import {
  readAccounts,
  readAssigned,
  readKnown,
} from '../../src/core/providers/paystack/account-calls.js';
import { createAccountReader } from '../../src/core/providers/paystack/account-events.js';
import {
  readCharge,
  readConfirmation,
  readPage,
  readSetup,
  readSetupPage,
} from '../../src/core/providers/paystack/charge-calls.js';
import { readCheck } from '../../src/core/providers/paystack/check-calls.js';
import { readDeposit, readDeposits } from '../../src/core/providers/paystack/deposit-wire.js';
import { disputeData, disputeOf } from '../../src/core/providers/paystack/dispute-wire.js';
import { SAFE_FIELDS } from '../../src/core/providers/paystack/messages.js';
import { createPaymentReader } from '../../src/core/providers/paystack/payment-events.js';
import { createIdentityReader } from '../../src/core/providers/paystack/identity-events.js';
import {
  readDisputeList,
  readDisputes,
  readRefund,
  readRefunds,
  readResumed,
} from '../../src/core/providers/paystack/refund-calls.js';
import { readReturn, readReturns } from '../../src/core/providers/paystack/return-calls.js';
import {
  readBalance,
  readHolder,
  readRecipient,
  readTransfer,
} from '../../src/core/providers/paystack/transfer-calls.js';
import { createTransferReader } from '../../src/core/providers/paystack/transfer-events.js';
import { ANSWERS, REQUESTS } from './golden/answers.js';
import { ACCOUNTS, ASSIGN_ANSWERS, KNOWN_ANSWERS, LISTED_ACCOUNTS } from './golden/accounts.js';
import {
  ACCOUNT_MESSAGES,
  DEPOSIT_ANSWERS,
  DEPOSITS,
  RETURN_ANSWERS,
  RETURNS,
} from './golden/deposits.js';
import { CHARGE_ANSWERS, CHARGES } from './golden/payments.js';
import { CHECK_ANSWERS, CHECKS, IDENTITY_MESSAGES } from './golden/identity.js';
import { DISPUTES, PAYMENT_MESSAGES, REFUNDS, sampleRefundEvent } from './golden/refunds.js';
import { TRANSFER_ANSWERS, TRANSFER_MESSAGES, TRANSFERS } from './golden/transfers.js';

const KEY = 'sk_test_inventedkey0000';
const settings = { keys: [KEY], domain: 'test' } as const;
const wire = { ...settings, url: 'https://api.paystack.co', isOfficial: true };
const meta = { page: 1, pageCount: '1', perPage: '100' };

/** As the wire has it: what JSON drops is dropped. */
const sent = (data: unknown): unknown => JSON.parse(JSON.stringify(data));
/** The answer of the other environment, to which the key belongs. */
const ELSEWHERE = { kind: 'unknown', reason: 'mismatch', fault: 'environment' };
const reading = (expected: unknown) => expect.objectContaining(expected as object) as unknown;

describe('answers about transfers', () => {
  test.each(TRANSFER_ANSWERS)('%s (%s)', (_what, _source, data, expected) => {
    expect(readTransfer({ data: sent(data), meta }, TRANSFERS.reference, 'test')).toEqual(expected);
  });
});

const readers: Record<keyof typeof ANSWERS, (found: { data: unknown; meta: unknown }) => unknown> =
  {
    recipient: (found) => readRecipient(found, REQUESTS.recipient, 'test'),
    holder: (found) => readHolder(found, REQUESTS.account),
    balance: (found) => readBalance(found, 'test'),
    page: (found) => readPage(found, { ...REQUESTS.order, channel: { type: 'card' } }, wire),
    confirmation: (found) => readConfirmation(found, { ...REQUESTS.order, method: 'AUTH_k' }, wire),
    setupPage: (found) => readSetupPage(found, wire),
    setup: (found) => readSetup(found, wire),
    refund: (found) => readRefund(found, REQUESTS.refund, 'test'),
    resumed: (found) => readResumed(found, REQUESTS.refundId, 'test'),
  };

describe.each(Object.entries(ANSWERS))('answers of the call: %s', (call, rows) => {
  test.each([...rows] as [string, string, unknown, unknown][])(
    '%s (%s)',
    (_what, _source, data, expected) => {
      const read = readers[call as keyof typeof ANSWERS];
      expect(read({ data: sent(data), meta })).toEqual(expected);
    },
  );
});

describe('answers about charges', () => {
  test.each(CHARGE_ANSWERS)('%s (%s)', (_what, _source, data, expected) => {
    expect(readCharge({ data: sent(data), meta }, { reference: CHARGES.ours }, wire)).toEqual(
      expected,
    );
  });
});

const withCustomers = { ...settings, customerDomain: ACCOUNTS.domain };

describe('answers about virtual accounts', () => {
  test.each(ASSIGN_ANSWERS)('a request for one: %s (%s)', (_what, _source, data, expected) => {
    const found = { data: sent(data), meta };
    expect(readAssigned(found, ACCOUNTS.ours, withCustomers)).toEqual(expected);
  });

  test.each(KNOWN_ANSWERS)('one that is known: %s (%s)', (_what, _source, data, expected) => {
    const found = { data: sent(data), meta };
    expect(readKnown(found, ACCOUNTS.handle, ACCOUNTS.ours)).toEqual(expected);
  });

  test.each(LISTED_ACCOUNTS)('those of a customer: %s (%s)', (_what, _source, rows, expected) => {
    const found = { data: sent(rows), meta };
    expect(readAccounts(found, ACCOUNTS.ours, withCustomers)).toEqual(expected);
  });
});

describe('returns of deposits', () => {
  const { order } = RETURNS;

  test.each(RETURN_ANSWERS)('%s (%s)', (_what, _source, data, expected) => {
    expect(readReturn({ data: sent(data), meta }, order, 'test')).toEqual(expected);
  });

  test('a return is found in the list by its marker as a whole word of the note alone', () => {
    const [, , first] = RETURN_ANSWERS[2] ?? [];
    const noted = (merchant_note: string | null) => [{ ...(sent(first) as object), merchant_note }];
    const read = (rows: unknown) =>
      readReturns({ data: rows, meta }, { ...order, domain: 'test' }, 1);
    expect(read(noted(`Note: ${order.marker}.`))).toMatchObject({ kind: 'succeeded' });
    for (const note of [`x${order.marker}`, null, 'Refund by desk@example.com']) {
      expect(read(noted(note))).toEqual({ kind: 'page', next: null });
    }
  });

  test('a return in the list has its own amount, which may be another one than the deposit’s', () => {
    const [, , first] = RETURN_ANSWERS[2] ?? [];
    const row = { ...(sent(first) as object), merchant_note: order.marker, amount: 100_000 };
    const found = readReturns({ data: [row], meta }, { ...order, domain: 'test' }, 1);
    expect(found).toEqual({ kind: 'succeeded', amountMinor: 100_000n, sessionId: null });
  });

  test('a failed return whose note has no time is over only if it was made a minute before the order or earlier', () => {
    const [, , failed] = RETURN_ANSWERS[4] ?? [];
    const made = (msBefore: number) => {
      const createdAt = new Date(order.orderedAt.getTime() - msBefore).toISOString();
      return { ...(sent(failed) as object), merchant_note: order.marker, createdAt };
    };
    const read = (row: unknown) =>
      readReturns({ data: [row], meta }, { ...order, domain: 'test' }, 1);
    // Paystack's time has whole seconds, so that of a later request may be before the order.
    expect(read(made(999))).toMatchObject({ kind: 'rejected' });
    expect(read(made(59_000))).toMatchObject({ kind: 'rejected' });
    expect(read(made(61_000))).toEqual({ kind: 'page', next: null });
  });

  test('a return in the list that is of the other environment is no answer', () => {
    const [, , first] = RETURN_ANSWERS[2] ?? [];
    const row = { ...(sent(first) as object), merchant_note: order.marker, domain: 'live' };
    const asked = { ...order, domain: 'test' };
    expect(readReturns({ data: [row], meta }, asked, 1)).toEqual(ELSEWHERE);
  });

  test('a row that cannot be read hides no return, unless it may be that one', () => {
    const [, , first] = RETURN_ANSWERS[2] ?? [];
    const ours = { ...(sent(first) as object), merchant_note: order.marker };
    const read = (rows: unknown) =>
      readReturns({ data: rows, meta }, { ...order, domain: 'test' }, 1);
    const odd = { ...ours, amount: -5 };
    const other = { ...odd, merchant_note: 'Refund by desk@example.com' };
    expect(read([other, ours])).toMatchObject({ kind: 'succeeded' });
    expect(read([other])).toEqual({ kind: 'page', next: null });
    for (const row of [odd, { ...odd, merchant_note: null }, 'nothing']) {
      expect(read([row])).toEqual({ kind: 'unknown', reason: 'unreadable' });
    }
  });
});

describe('answers about identity checks', () => {
  test.each(CHECK_ANSWERS)('%s (%s)', (_what, _source, data, expected) => {
    const found = { data: sent(data), meta };
    const about = { reference: CHECKS.ours, acceptedAt: CHECKS.acceptedAt };
    expect(readCheck(found, about, withCustomers, CHECKS.now)).toEqual(expected);
  });

  test('not identified is "not found" before Paystack has accepted the check, and overdue a day after that', () => {
    const [, , data] = CHECK_ANSWERS.find(([what]) => what.startsWith('not identified')) ?? [];
    const found = { data: sent(data), meta };
    const read = (acceptedAt: Date | null, now: Date = CHECKS.now) =>
      readCheck(found, { reference: CHECKS.ours, acceptedAt }, withCustomers, now);
    expect(read(null)).toEqual({ kind: 'not_found' });
    expect(read(new Date(CHECKS.now.getTime() - 25 * 3_600_000))).toEqual({
      kind: 'rejected',
      code: 'not_checked',
      scope: 'instruction',
    });
  });
});

describe('answers about deposits', () => {
  test.each(DEPOSIT_ANSWERS)('%s (%s)', (_what, _source, data, expected) => {
    const found = { data: sent(data), meta };
    expect(readDeposit(found, DEPOSITS.reference, 'test')).toEqual(expected);
  });

  test('a list has the deposits, and no charge, no reversed one and none of the other environment', () => {
    const { paid, deposit } = DEPOSITS;
    const others = [
      { ...paid, reference: CHARGES.theirs },
      { ...paid, status: 'reversed' },
      { ...paid, domain: 'live' },
      { ...paid, amount: -5 },
      'nothing',
    ];
    expect(readDeposits({ data: sent([...others, paid]), meta }, 1, 'test')).toEqual({
      kind: 'page',
      items: [deposit],
      next: null,
    });
  });
});

const WANTED = {
  reference: CHARGES.ours,
  transaction: String(CHARGES.paid.id),
  domain: 'test',
};

describe('rows of the list of refunds', () => {
  test.each(REFUNDS)('%s (%s)', (_what, _source, row, expected) => {
    const page = { kind: 'page', items: [expected], next: null };
    expect(readRefunds({ data: [sent(row)], meta }, WANTED, 1)).toEqual(page);
  });

  test('an unknown word makes the page of its charge unknown, and no other page', () => {
    const [, , row] = REFUNDS[0] ?? [];
    const odd = { ...(sent(row) as object), status: 'parked' };
    const read = (data: unknown) => readRefunds({ data, meta }, WANTED, 1);
    expect(read([odd])).toEqual({ kind: 'unknown', reason: 'unrecognized', word: 'parked' });
    const other = { ...odd, transaction: { id: 5, reference: 'T77' } };
    expect(read([other])).toEqual({ kind: 'page', items: [], next: null });
  });

  test('a row of the other environment makes the page of its charge no answer, and no other page', () => {
    const [, , row, ours] = REFUNDS[0] ?? [];
    const elsewhere = { ...(sent(row) as object), domain: 'live' };
    const read = (data: unknown) => readRefunds({ data, meta }, WANTED, 1);
    expect(read([elsewhere])).toEqual(ELSEWHERE);
    const other = { ...elsewhere, transaction: { id: 5, reference: 'T77' } };
    expect(read([other, sent(row)])).toEqual({ kind: 'page', items: [ours], next: null });
  });

  test('a row that cannot be read hides no refund of another transaction, and all of its own', () => {
    const [, , row, ours] = REFUNDS[0] ?? [];
    const odd = { ...(sent(row) as object), amount: -5 };
    const read = (data: unknown) => readRefunds({ data, meta }, WANTED, 1);
    for (const transaction of [{ id: 5, reference: 'T77' }, { id: 5 }, 5]) {
      const page = { kind: 'page', items: [ours], next: null };
      expect(read([{ ...odd, transaction }, sent(row)])).toEqual(page);
    }
    const named = [{ reference: CHARGES.theirs }, { id: CHARGES.paid.id }, CHARGES.paid.id, null];
    for (const transaction of named) {
      expect(read([{ ...odd, transaction }])).toEqual({ kind: 'unknown', reason: 'unreadable' });
    }
    expect(read(['nothing'])).toEqual({ kind: 'unknown', reason: 'unreadable' });
  });
});

describe('disputes', () => {
  test('a row that cannot be read hides no dispute of another transaction, and all of its own', () => {
    const [, row] = DISPUTES[0] ?? [];
    const { transaction, ...odd } = { ...(sent(row) as { transaction: object }), status: 5 };
    const read = (data: unknown) => readDisputes({ data, meta }, WANTED, 1);
    const other = { ...odd, transaction: { id: 5, reference: 'T77' } };
    const found = read([other, sent(row)]);
    expect(found.kind === 'page' && found.items).toHaveLength(1);
    for (const each of [{ ...odd, transaction }, odd, 'nothing']) {
      expect(read([each])).toEqual({ kind: 'unknown', reason: 'unreadable' });
    }
  });

  test('a dispute of the other environment makes the page of its charge no answer, and no other page', () => {
    const [, row] = DISPUTES[0] ?? [];
    const { transaction, ...rest } = sent(row) as { transaction: object; domain: string };
    const read = (data: unknown) => readDisputes({ data, meta }, WANTED, 1);
    expect(read([{ ...rest, transaction, domain: 'live' }])).toEqual(ELSEWHERE);
    const named = { ...rest, domain: null, transaction: { ...transaction, domain: 'live' } };
    expect(read([named])).toEqual(ELSEWHERE);
    const other = { ...rest, transaction: { ...transaction, reference: 'T77' }, domain: 'live' };
    const found = read([other, sent(row)]);
    expect(found.kind === 'page' && found.items).toHaveLength(1);
  });

  test('the list of all disputes has ours, and leaves out those of others and those that cannot be read', () => {
    const [, row, ours] = DISPUTES[0] ?? [];
    const { transaction, ...rest } = sent(row) as { transaction: object };
    const others = [
      { ...rest, transaction: { ...transaction, reference: 'T77' } },
      { ...rest, transaction, status: 'archived' },
      { ...rest, transaction, status: 5 },
      'nothing',
    ];
    const read = (rows: unknown) => readDisputeList({ data: rows, meta }, 1, 'test');
    expect(read([...others, sent(row)])).toEqual({ kind: 'page', items: [ours], next: null });
    expect(read([{ ...rest, transaction, domain: 'live' }])).toEqual(ELSEWHERE);
    expect(read({})).toEqual({ kind: 'unknown', reason: 'unreadable' });
  });

  test.each(DISPUTES)('%s', (_what, row, expected) => {
    expect(disputeOf(disputeData.parse(sent(row)))).toEqual(expected);
  });
});

describe.each([
  ['transfers', createTransferReader(settings), TRANSFER_MESSAGES],
  ['payments', createPaymentReader(settings), PAYMENT_MESSAGES],
  ['accounts', createAccountReader(withCustomers), ACCOUNT_MESSAGES],
  ['identity', createIdentityReader(withCustomers), IDENTITY_MESSAGES],
] as const)('messages about %s', (_port, reader, messages) => {
  const now = new Date();
  const read = (body: unknown, key = KEY, at = now) => {
    const raw = Buffer.from(JSON.stringify(body));
    const signature = createHmac('sha512', key).update(raw).digest('hex');
    return reader.readMessage(raw, { 'x-paystack-signature': signature }, at);
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

  test('a second decision about a dispute with another resolution is another event', () => {
    const dispute = { id: 7, status: 'resolved', domain: 'test' };
    const keyOf = (resolution: string) => {
      const found = read({ event: 'charge.dispute.resolve', data: { ...dispute, resolution } });
      return 'dedupeKey' in found && found.dedupeKey;
    };
    expect(keyOf('declined')).toBe('charge.dispute.resolve:7:resolved:declined');
    expect(keyOf('merchant-accepted')).not.toBe(keyOf('declined'));
  });

  test('of two refunds of one amount, which the official samples do not tell apart, are two events, also if one comes a second later', () => {
    const at = new Date('2026-11-21T09:10:11.250Z');
    const keyAfter = (ms: number, more: object = {}) => {
      const { event, data } = sampleRefundEvent('failed') as { event: string; data: object };
      const body = { event, data: { ...data, ...more } };
      const found = read(body, KEY, new Date(at.getTime() + ms));
      return 'dedupeKey' in found
        ? found.dedupeKey
        : (found as { event?: { dedupeKey: string } }).event?.dedupeKey;
    };
    expect(keyAfter(0)).toEqual(expect.any(String));
    expect(keyAfter(749)).toBe(keyAfter(0));
    expect(keyAfter(750)).not.toBe(keyAfter(0));
    expect(keyAfter(750, { id: 7 })).toBe(keyAfter(0, { id: 7 }));
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
        ACCOUNTS.ours,
        CHECKS.ours,
      ]) {
        expect(text).not.toContain(secret);
      }
      // Without an account's number and a customer's address nothing can be told of it any more.
      const { kind } = expected as { kind: string };
      const isLost = kind !== 'other_port' && LOST_IN_COPY.test(text);
      expect(reader.readStored(copy).kind).toBe(isLost ? 'unreadable' : kind);
    }
  });
});

/** Messages of which the stored copy has lost its subject. */
const LOST_IN_COPY = /dedicatedaccount|dedicated_nuban|customeridentification/;

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
