import { readAccountMessage } from '../../../src/core/providers/sandbox-bank/account-events.js';
import { readBillMessage } from '../../../src/core/providers/sandbox-bank/bill-events.js';
import { readCardMessage } from '../../../src/core/providers/sandbox-bank/card-events.js';
import { readIdentityMessage } from '../../../src/core/providers/sandbox-bank/identity-events.js';

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
] as const;

describe('a message of the sandbox bank', () => {
  test.each(MESSAGES)('about a %s counts only in its own environment', (_about, read, message) => {
    const hash = () => 'a hash';
    expect(['event', 'authorization']).toContain(read(message, hash).kind);
    const elsewhere = read({ ...message, environment: 'elsewhere' }, hash).kind;
    expect(['unreadable', 'irrelevant']).toContain(elsewhere);
  });
});
