import { assigned, closing, customer, ID, OURS, unknown } from './accounts.js';

/**
 * Bodies about deposits and their return, and the messages about both and about accounts, in every form that Paystack's
 * documentation has, with values of our own. `source`: the page of the documentation, or the trait that its examples show.
 */

const REFERENCE = 'T8f02kq5ydm3';

const paid = {
  id: 3_310_448_999,
  domain: 'test',
  status: 'success',
  reference: REFERENCE,
  amount: 250_000,
  requested_amount: 250_000,
  message: null,
  gateway_response: 'Approved',
  paid_at: '2026-11-20T09:10:19.000Z',
  created_at: '2026-11-20T09:10:19.000Z',
  channel: 'dedicated_nuban',
  currency: 'NGN',
  ip_address: null,
  metadata: {
    receiver_account_number: '0009990001',
    receiver_bank: 'Wema Bank',
    receiver_account_type: null,
    custom_fields: [],
  },
  fees: 2_500,
  fees_split: null,
  authorization: {
    authorization_code: 'AUTH_k3v0q8m1zz',
    bin: '008XXX',
    last4: 'X553',
    exp_month: '9',
    exp_year: '2031',
    channel: 'dedicated_nuban',
    card_type: 'transfer',
    bank: null,
    country_code: 'NG',
    brand: 'Managed Account',
    reusable: false,
    signature: null,
    account_name: null,
    sender_country: 'NG',
    sender_bank: 'Invented Bank',
    sender_bank_account_number: 'XXXXXX4321',
    sender_name: 'Invented Payee',
    narration: 'Invoice 42',
    receiver_bank_account_number: '0009990001',
    receiver_bank: 'Wema Bank',
  },
  customer,
  plan: {},
};
const { id: _id, ...restOfPaid } = paid;

const deposit = {
  id: REFERENCE,
  accountNumber: '0009990001',
  amountMinor: 250_000n,
  feeMinor: 2_500n,
  currency: 'NGN',
  sessionId: null,
  sender: { name: 'Invented Payee', account: 'XXXXXX4321', bank: 'Invented Bank' },
  narration: 'Invoice 42',
  receivedAt: new Date('2026-11-20T09:10:19.000Z'),
};
const received = (changes: object = {}) => ({
  kind: 'received',
  deposit: { ...deposit, ...changes },
});
const nobody = { name: null, account: null, bank: null };

export const DEPOSITS = { reference: REFERENCE, paid, deposit };

/** [what, source, the transaction, what it says of the deposit]. */
export const DEPOSIT_ANSWERS: [string, string, unknown, unknown][] = [
  ['received', 'Verify transaction, dedicated_nuban', paid, received()],
  ['an amount in a text', 'shape trap', { ...paid, amount: '250000' }, received()],
  ['no fees', 'shape trap: fees', { ...paid, fees: null }, received({ feeMinor: null })],
  [
    'the account in the metadata alone, and no sender',
    'older events',
    { ...paid, authorization: {} },
    received({ sender: nobody, narration: null }),
  ],
  ['metadata is an empty text', 'shape trap: metadata', { ...paid, metadata: '' }, received()],
  [
    'the times in their other form',
    'shape trap: times',
    { ...paid, paid_at: undefined, paidAt: '2026-11-20T09:10:19.000Z' },
    received(),
  ],
  [
    'another currency, which is not credited',
    'principle',
    { ...paid, currency: 'USD' },
    received({ currency: 'USD' }),
  ],
  [
    'a payment that was started at Paystack',
    'principle: ownerless money',
    { ...paid, channel: 'card', authorization: {}, metadata: 0 },
    received({ accountNumber: '', sender: nobody, narration: null }),
  ],
  [
    'on an account that it does not name',
    'principle: read strictly',
    { ...paid, authorization: {}, metadata: {} },
    unknown('unreadable'),
  ],
  ['reversed', 'Transaction statuses', { ...paid, status: 'reversed' }, { kind: 'reversed' }],
  [
    'to be reversed',
    'Transaction statuses',
    { ...paid, status: 'reversal pending' },
    unknown('conflict'),
  ],
  [
    'failed',
    'principle: not what the message said',
    { ...paid, status: 'failed' },
    { ...unknown('unrecognized'), word: 'failed' },
  ],
  ['another transaction', 'principle', { ...paid, reference: 'T77' }, unknown('mismatch')],
  [
    'of the other environment',
    'principle',
    { ...paid, domain: 'live' },
    { ...unknown('mismatch'), fault: 'environment' },
  ],
];

const MARKER = `dep_${ID}`;
const refund = {
  id: 3_018_284,
  status: 'pending',
  amount: 250_000,
  currency: 'NGN',
  domain: 'test',
  transaction: { id: 3_310_448_999, domain: 'test', reference: REFERENCE, amount: 250_000 },
  merchant_note: MARKER,
  customer_note: null,
  fully_deducted: null,
  createdAt: '2026-11-21T09:10:11.000Z',
  updatedAt: '2026-11-21T09:10:11.000Z',
};
const succeededReturn = { kind: 'succeeded', amountMinor: 250_000n, sessionId: null };
const pendingReturn = { kind: 'pending', awaits: 'provider' };

const ORDERED = new Date('2026-11-21T09:10:00.000Z');

export const RETURNS = {
  order: {
    id: REFERENCE,
    amountMinor: 250_000n,
    marker: MARKER,
    orderedAt: ORDERED,
    requestedAt: ORDERED,
  },
};

/** [what, source, the refund, the state of the return]. */
export const RETURN_ANSWERS: [string, string, unknown, unknown][] = [
  ['queued', 'Create refund', refund, pendingReturn],
  ['processing', 'Refund statuses', { ...refund, status: 'processing' }, pendingReturn],
  ['processed', 'Refund statuses', { ...refund, status: 'processed' }, succeededReturn],
  [
    'an amount in a text, and a transaction by its number',
    'shape trap',
    { ...refund, status: 'processed', amount: '250000', transaction: 3_310_448_999 },
    succeededReturn,
  ],
  [
    'failed',
    'Refund statuses',
    { ...refund, status: 'failed' },
    { kind: 'rejected', code: 'return_refused', scope: 'instruction' },
  ],
  [
    'needs the account of the sender',
    'Refund statuses',
    { ...refund, status: 'needs-attention' },
    { kind: 'pending', awaits: 'operator' },
  ],
  [
    'a new word',
    'principle',
    { ...refund, status: 'parked' },
    { ...unknown('unrecognized'), word: 'parked' },
  ],
  ['of another amount', 'principle', { ...refund, amount: 1 }, unknown('mismatch')],
  [
    'of the other environment',
    'principle',
    { ...refund, domain: 'live' },
    { ...unknown('mismatch'), fault: 'environment' },
  ],
  [
    'of another transaction',
    'principle',
    { ...refund, transaction: { id: 5, reference: 'T77' } },
    unknown('mismatch'),
  ],
];

/** The message about a refund has no number, and its amount is a text. */
const refundEvent = (status: string, changes: object = {}) => ({
  event: `refund.${status}`,
  data: {
    status,
    amount: '250000',
    currency: 'NGN',
    domain: 'test',
    transaction_reference: REFERENCE,
    refund_reference: null,
    merchant_note: MARKER,
    ...changes,
  },
});

const event = (name: string, data: unknown) => ({ event: name, data });
const assignment = (changes: object = {}) => ({
  customer,
  dedicated_account: closing,
  identification: { status: 'success' },
  ...changes,
});

/** [what, the message, its reading]. Source: the events `dedicatedaccount.*` and `charge.success` of the page webhooks. */
export const ACCOUNT_MESSAGES: [string, unknown, unknown][] = [
  [
    'charge.success of a virtual account',
    event('charge.success', paid),
    {
      kind: 'event',
      about: {
        subject: 'deposit',
        id: REFERENCE,
        kind: 'received',
        accountNumber: '0009990001',
        amountMinor: 250_000n,
      },
    },
  ],
  [
    'charge.success of another deposit, without a number of the record',
    event('charge.success', { ...restOfPaid, reference: 'T88' }),
    { kind: 'event', about: { subject: 'deposit', id: 'T88' } },
  ],
  ...['reversed', 'reversal pending'].map((status): [string, unknown, unknown] => [
    `charge.success of a deposit that is ${status} by now`,
    event('charge.success', { ...paid, status }),
    { kind: 'event', about: { subject: 'deposit', id: REFERENCE, kind: 'reversed' } },
  ]),
  [
    'charge.success of a deposit that failed',
    event('charge.success', { ...paid, status: 'failed' }),
    { kind: 'unreadable' },
  ],
  [
    'charge.success of a payment that was started at Paystack',
    event('charge.success', { ...paid, channel: 'card', authorization: {}, metadata: null }),
    { kind: 'event', about: { subject: 'deposit', id: REFERENCE, accountNumber: '' } },
  ],
  [
    'charge.success of a charge of ours',
    event('charge.success', { ...paid, reference: `chg-${ID}-1`, channel: 'card' }),
    { kind: 'other_port' },
  ],
  [
    'charge.success of the other environment',
    event('charge.success', { ...paid, domain: 'live' }),
    { kind: 'unreadable' },
  ],
  [
    'dedicatedaccount.assign.success',
    event('dedicatedaccount.assign.success', assignment()),
    { kind: 'event', about: { subject: 'account', reference: OURS, state: assigned } },
  ],
  [
    'dedicatedaccount.assign.failed',
    event('dedicatedaccount.assign.failed', assignment({ dedicated_account: null })),
    {
      kind: 'event',
      about: { subject: 'account', reference: OURS, state: { kind: 'rejected' } },
    },
  ],
  [
    'an assignment that was made on the dashboard',
    event(
      'dedicatedaccount.assign.success',
      assignment({ customer: { ...customer, email: 'ada@example.com' } }),
    ),
    { kind: 'irrelevant' },
  ],
  [
    'an assignment without an account',
    event('dedicatedaccount.assign.success', assignment({ dedicated_account: null })),
    { kind: 'unreadable' },
  ],
  [
    'refund.processed of a deposit, made on the dashboard',
    refundEvent('processed', { merchant_note: 'Refund by desk@example.com' }),
    {
      kind: 'event',
      about: { subject: 'deposit', id: REFERENCE, kind: 'reversed', accountNumber: null },
    },
  ],
  [
    'refund.failed of the same',
    refundEvent('failed', { merchant_note: 'Refund by desk@example.com' }),
    {
      kind: 'event',
      about: { subject: 'deposit', id: REFERENCE, kind: 'refund_failed', accountNumber: null },
    },
  ],
  [
    'refund.pending of the same',
    refundEvent('pending', { merchant_note: 'Refund by desk@example.com' }),
    { kind: 'irrelevant' },
  ],
  ['refund.processed of a return of ours', refundEvent('processed'), { kind: 'irrelevant' }],
  [
    'refund.failed of a return of ours: an operator reads it',
    refundEvent('failed'),
    { kind: 'unreadable' },
  ],
  [
    'a refund of a charge of ours',
    refundEvent('processed', { transaction_reference: `chg-${ID}-1` }),
    { kind: 'other_port' },
  ],
  [
    'a message about a check',
    event('customeridentification.success', { email: customer.email }),
    { kind: 'other_port' },
  ],
];
