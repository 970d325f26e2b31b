import { CHARGES, succeeded } from './payments.js';

/**
 * Bodies of the calls that have no table of their own, with values of our own. `source`: the page of the documentation, or the
 * trait that its examples show.
 */

const ID = '4410229';
const MARKER = 'ref_01kaj2v6wte8v9kcz0t3yd4m5n';
const unreadable = { kind: 'unknown', reason: 'unreadable' };
const mismatch = { kind: 'unknown', reason: 'mismatch' };
const environment = { ...mismatch, fault: 'environment' };
const page = 'https://checkout.paystack.com/invented';

/** The requests that the answers belong to. */
export const REQUESTS = {
  recipient: { account: '0009990001', bankCode: '058' },
  account: '0009990001',
  order: {
    reference: CHARGES.ours,
    clientReference: 'INV-118',
    amountMinor: 500_000n,
    currency: 'NGN',
    customer: { id: 'customer-1', email: 'payer@example.com', name: null },
    requestedAt: new Date('2026-11-20T09:10:11.000Z'),
    returnUrl: null,
  },
  refund: {
    charge: { reference: CHARGES.ours, handle: null },
    amountMinor: 120_000n,
    currency: 'NGN',
    marker: MARKER,
    clientReference: 'INV-118',
    requestedAt: new Date('2026-11-21T09:10:11.000Z'),
  },
  refundId: ID,
} as const;

const recipient = {
  active: true,
  currency: 'NGN',
  domain: 'test',
  id: 90_114_023,
  name: 'Invented Payee',
  recipient_code: 'RCP_7pj3k0d8x2m5v1q',
  type: 'nuban',
  is_deleted: false,
  details: {
    authorization_code: null,
    account_number: '0009990001',
    account_name: 'Invented Payee',
    bank_code: '058',
    bank_name: 'Guaranty Trust Bank',
  },
};
const ready = { kind: 'ready', handle: 'RCP_7pj3k0d8x2m5v1q' };
const withDetails = (details: object) => ({
  ...recipient,
  details: { ...recipient.details, ...details },
});

const opened = {
  authorization_url: page,
  access_code: 'k3v0q8m1zz',
  reference: CHARGES.theirs,
};
const openPage = {
  kind: 'page',
  url: page,
  handle: 'k3v0q8m1zz',
  expiresAt: new Date('2026-11-21T09:10:11.000Z'),
};

const paused = { paused: true, reference: CHARGES.theirs, authorization_url: page };
const charged = { ...CHARGES.paid, metadata: '', requested_amount: undefined };

const mandate = {
  authorization_code: 'AUTH_k3v0q8m1zz',
  channel: 'direct_debit',
  bank: 'INVENTED BANK',
  active: true,
  customer: { code: 'CUS_9z1y2x3w4v5u6t7', email: 'payer@example.com' },
};
const saved = {
  kind: 'saved',
  method: {
    code: 'AUTH_k3v0q8m1zz',
    type: 'bank_account',
    brand: null,
    last4: null,
    expiryMonth: null,
    expiryYear: null,
    bankCode: null,
    bankName: 'INVENTED BANK',
    reusable: true,
    email: 'payer@example.com',
  },
};

const refund = {
  id: 4_410_229,
  transaction: { id: CHARGES.paid.id, reference: CHARGES.theirs },
  amount: 120_000,
  currency: 'NGN',
  status: 'pending',
  merchant_note: MARKER,
  domain: 'test',
};
const accepted = {
  kind: 'accepted',
  refund: {
    id: ID,
    marker: MARKER,
    charge: { reference: CHARGES.ours, handle: String(CHARGES.paid.id) },
    dispute: null,
    amountMinor: 120_000n,
    currency: 'NGN',
    state: 'pending',
  },
};

const balances = [
  { currency: 'USD', balance: 0 },
  { currency: 'NGN', balance: 1_700_000 },
];

/** The answers of a call: [what, source, the answer's data, what it means]. */
type Rows = [string, string, unknown, unknown][];

/** The answers, by the part of the adapter that reads them. */
export const ANSWERS = {
  recipient: [
    ['made, or known before', 'Create transfer recipient', recipient, ready],
    ['numbers', 'trait: codes', withDetails({ account_number: 9_990_001 }), ready],
    ['another account', 'principle', withDetails({ account_number: '0009990002' }), mismatch],
    ['another bank', 'principle', withDetails({ bank_code: '044' }), mismatch],
    ['of the other environment', 'principle', { ...recipient, domain: 'live' }, environment],
    ['without a code', 'principle', { ...recipient, recipient_code: null }, unreadable],
  ],
  holder: [
    [
      'a name',
      'Resolve account',
      { account_number: '0009990001', account_name: 'INVENTED PAYEE', bank_id: 9 },
      { kind: 'holder', name: 'INVENTED PAYEE' },
    ],
    [
      'of another account',
      'principle',
      { account_number: '0009990002', account_name: 'INVENTED PAYEE' },
      mismatch,
    ],
    ['without a name', 'principle', { account_number: '0009990001' }, unreadable],
  ],
  balance: [
    [
      'in two currencies',
      'Fetch balance',
      balances,
      { kind: 'balance', availableMinor: 1_700_000n, currency: 'NGN' },
    ],
    ['not in ours', 'principle', balances.slice(0, 1), unreadable],
    [
      'of the other environment',
      'principle',
      balances.map((each) => ({ ...each, domain: 'live' })),
      environment,
    ],
    ['empty', 'principle', [], unreadable],
  ],
  page: [
    ['opened', 'Initialize transaction', opened, openPage],
    ['of another charge', 'principle', { ...opened, reference: 'T77' }, mismatch],
    [
      'not of Paystack',
      'principle',
      { ...opened, authorization_url: 'https://evil.example' },
      mismatch,
    ],
  ],
  confirmation: [
    ['paid', 'Charge authorization', CHARGES.paid, succeeded],
    ['paid, without the amount that was asked for', 'Charge authorization', charged, succeeded],
    [
      'paid, with another amount',
      'principle',
      { ...charged, amount: 507_614 },
      { kind: 'pending', awaits: 'provider', redirect: null, lastDecline: null },
    ],
    [
      'declined',
      'Charge authorization',
      { ...charged, status: 'failed', gateway_response: 'Insufficient Funds' },
      { kind: 'declined', code: 'insufficient_funds', decline: 'soft' },
    ],
    [
      'the customer must confirm it',
      'Charge authorization',
      paused,
      { kind: 'pending', awaits: 'customer', redirect: page, lastDecline: null },
    ],
    [
      'paused, not on a page of Paystack',
      'principle',
      { ...paused, authorization_url: 'https://evil.example' },
      mismatch,
    ],
    ['paused, of another charge', 'principle', { ...paused, reference: 'T77' }, mismatch],
  ],
  setupPage: [
    [
      'opened',
      'Initialize authorization',
      { redirect_url: page, access_code: 'k3v0q8m1zz', reference: 'dfb2k7q' },
      { kind: 'page', url: page, handle: 'dfb2k7q', expiresAt: null },
    ],
    [
      'not of Paystack',
      'principle',
      { redirect_url: 'https://evil.example', reference: 'dfb2k7q' },
      mismatch,
    ],
    [
      'of the other environment',
      'principle',
      { redirect_url: page, reference: 'dfb2k7q', domain: 'live' },
      environment,
    ],
  ],
  setup: [
    ['active', 'Verify authorization', mandate, saved],
    ['not yet', 'Verify authorization', { ...mandate, active: false }, { kind: 'pending' }],
    ['without a code', 'principle', { ...mandate, authorization_code: null }, unreadable],
    ['of the other environment', 'principle', { ...mandate, domain: 'live' }, environment],
  ],
  refund: [
    ['accepted', 'Create refund', refund, accepted],
    [
      'without its number',
      'trait: id of a refund',
      { ...refund, id: undefined },
      { ...accepted, refund: { ...accepted.refund, id: null } },
    ],
    ['of another amount', 'principle', { ...refund, amount: 120_001 }, mismatch],
    ['of the other environment', 'principle', { ...refund, domain: 'live' }, environment],
    ['of another charge', 'principle', { ...refund, transaction: { reference: 'T77' } }, mismatch],
    [
      'an unknown word',
      'principle',
      { ...refund, status: 'parked' },
      { kind: 'unknown', reason: 'unrecognized', word: 'parked' },
    ],
  ],
  resumed: [
    ['goes on', 'Retry refund with customer details', refund, accepted],
    ['of another refund', 'principle', { ...refund, id: 5 }, mismatch],
    ['of the other environment', 'principle', { ...refund, domain: 'live' }, environment],
    ['no refund', 'principle', {}, unreadable],
  ],
} as const satisfies Record<string, Rows>;
