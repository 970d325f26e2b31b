import { readAccountMessage } from '../../../src/core/providers/sandbox-bank/account-events.js';
import { readBillMessage } from '../../../src/core/providers/sandbox-bank/bill-events.js';
import { readCardMessage } from '../../../src/core/providers/sandbox-bank/card-events.js';
import { readIdentityMessage } from '../../../src/core/providers/sandbox-bank/identity-events.js';
import { readPaymentMessage } from '../../../src/core/providers/sandbox-bank/payment-events.js';
import { readTransferMessage } from '../../../src/core/providers/sandbox-bank/transfer-events.js';

const sent = (event: string, data: object) => ({
  id: 'evt_1',
  event,
  occurred_at: '2026-11-21T09:00:00Z',
  data,
});

const MESSAGES = [
  [
    'card',
    readCardMessage,
    sent('card.state_changed', {
      card: 'c1',
      reference: 'r1',
      state: 'open',
      changed_by: 'client',
    }),
  ],
  [
    'card authorization',
    readCardMessage,
    sent('card.authorization_requested', {
      reference: 'r1',
      card: 'c1',
      amount_minor: 1_000,
      currency: 'NGN',
      channel: 'online',
      requested_at: '2026-11-21T09:00:00Z',
      merchant: { name: 'A Shop', category: '5411', country: 'NG' },
    }),
  ],
  ['check', readIdentityMessage, sent('check.verified', { reference: 'r1', status: 'verified' })],
  [
    'bill',
    readBillMessage,
    sent('bill.refused', {
      reference: 'r1',
      status: 'refused',
      amount_minor: 1_000,
      currency: 'NGN',
      receipt: null,
    }),
  ],
  [
    'deposit',
    readAccountMessage,
    sent('deposit.received', { deposit: 'd1', account_number: '0123456789', amount_minor: 1_000 }),
  ],
  [
    'account',
    readAccountMessage,
    sent('account.closed', { reference: 'r1', status: 'closed', account_number: null }),
  ],
  ['charge', readPaymentMessage, sent('charge.pending', { reference: 'r1', status: 'pending' })],
  [
    'transfer',
    readTransferMessage,
    sent('transfer.paid', { reference: 'r1', amount_minor: 1_000, currency: 'NGN' }),
  ],
] as const;

const hash = () => 'a hash';
const elsewhere = (message: object) => ({ ...message, environment: 'elsewhere' });

describe('a message of the sandbox bank', () => {
  test.each(MESSAGES)('about a %s counts only in its own environment', (_about, read, message) => {
    expect(['event', 'authorization']).toContain(read(message, hash).kind);
    expect(read(elsewhere(message), hash).kind).toBe('unreadable');
  });

  test.each(MESSAGES)(
    'of another environment calls an operator at the port of a %s, also if nothing follows from its event',
    (_about, read) => {
      const notice = sent('bank.notice', {});
      expect(read(notice, hash).kind).toBe('irrelevant');
      expect(read(elsewhere(notice), hash).kind).toBe('unreadable');
    },
  );
});
