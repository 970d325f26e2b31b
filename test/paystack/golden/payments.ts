/**
 * Bodies about transactions, refunds and disputes, in every form that Paystack's documentation has, with values of our own.
 * `source`: the page of the documentation, or the trait that its examples show.
 */

const ID = '01kaj2v6wte8v9kcz0t3yd4m5n';
const MARKER = 'ref_01kaj2v6wte8v9kcz0t3yd4m5n';
const OURS = `chg_${ID}-1`;
const THEIRS = `chg-${ID}-1`;

const card = {
  authorization_code: 'AUTH_k3v0q8m1zz',
  bin: '506102',
  last4: '1134',
  exp_month: '07',
  exp_year: '2029',
  channel: 'card',
  card_type: 'verve ',
  bank: 'INVENTED BANK',
  country_code: 'NG',
  brand: 'verve',
  reusable: true,
  signature: 'SIG_a8f02kq5ydm3h7c1p9ox',
  account_name: null,
};

const paid = {
  id: 3_310_448_120,
  domain: 'test',
  status: 'success',
  reference: THEIRS,
  amount: 500_000,
  requested_amount: 500_000,
  message: null,
  gateway_response: 'Successful',
  paid_at: '2026-11-20T09:10:19.000Z',
  created_at: '2026-11-20T09:10:11.000Z',
  channel: 'card',
  currency: 'NGN',
  ip_address: null,
  metadata: { bursar_charge: 'page', client_reference: 'INV-118' },
  fees: 7_500,
  fees_split: null,
  authorization: card,
  customer: { id: 77_120_331, email: 'payer@example.com', customer_code: 'CUS_9z1y2x3w4v5u6t7' },
  plan: null,
};

const method = {
  code: 'AUTH_k3v0q8m1zz',
  type: 'card',
  brand: 'verve',
  last4: '1134',
  expiryMonth: 7,
  expiryYear: 2029,
  bankCode: null,
  bankName: 'INVENTED BANK',
  reusable: true,
  email: 'payer@example.com',
};
const succeeded = {
  kind: 'succeeded',
  amountMinor: 500_000n,
  surchargeMinor: 0n,
  feeMinor: 7_500n,
  currency: 'NGN',
  method,
};
const pending = (awaits: string, lastDecline: string | null = null) => ({
  kind: 'pending',
  awaits,
  redirect: null,
  lastDecline,
});
const unknown = (reason: string) => ({ kind: 'unknown', reason });
const onPage = { ...paid, status: 'failed', authorization: {} };
const ofSavedMethod = { ...onPage, metadata: { bursar_charge: 'saved_method' } };

export const CHARGES = { ours: OURS, theirs: THEIRS, paid };

/** [what, source, the answer's data, the state]. */
export const CHARGE_ANSWERS: [string, string, unknown, unknown][] = [
  ['paid by card', 'Verify transaction', paid, succeeded],
  [
    'paid, and the customer pays our fees on top',
    'Verify transaction: fees passed on',
    { ...paid, amount: 507_614, fees: 7_614 },
    { ...succeeded, amountMinor: 500_000n, surchargeMinor: 7_614n, feeMinor: 0n },
  ],
  [
    'paid, fee not known yet',
    'trait: fees is null',
    { ...paid, fees: null },
    { ...succeeded, feeMinor: null },
  ],
  [
    'paid less than asked for',
    'Partial debit',
    { ...paid, amount: 300_000, fees: 4_500 },
    { ...succeeded, amountMinor: 300_000n, feeMinor: 4_500n },
  ],
  ['paid, metadata is a text', 'trait: metadata', { ...paid, metadata: '' }, succeeded],
  ['paid, metadata is zero', 'trait: metadata', { ...paid, metadata: 0 }, succeeded],
  ['paid, metadata is null', 'trait: metadata', { ...paid, metadata: null }, succeeded],
  ['paid, metadata is missing', 'trait: metadata', { ...paid, metadata: undefined }, succeeded],
  [
    'paid, no method left',
    'trait: authorization may be {}',
    { ...paid, authorization: {} },
    { ...succeeded, method: null },
  ],
  [
    'paid, the method can be used once',
    'trait: reusable is missing in old events',
    { ...paid, authorization: { ...card, reusable: undefined } },
    { ...succeeded, method: null },
  ],
  [
    'paid, the month is a number',
    'trait: exp_month',
    { ...paid, authorization: { ...card, exp_month: 7, brand: null } },
    succeeded,
  ],
  [
    'paid by mandate: the fields of a card are null',
    'trait: mandates',
    {
      ...paid,
      channel: 'direct_debit',
      authorization: {
        ...card,
        channel: 'direct_debit',
        bin: null,
        last4: 'X553',
        exp_month: null,
        exp_year: null,
        card_type: null,
        brand: null,
      },
    },
    {
      ...succeeded,
      method: {
        ...method,
        type: 'bank_account',
        brand: null,
        last4: null,
        expiryMonth: null,
        expiryYear: null,
      },
    },
  ],
  [
    'declined on a page, the amount is a text',
    'Charge: terminal',
    { ...onPage, amount: '500000', gateway_response: 'Insufficient Funds' },
    pending('customer', 'insufficient_funds'),
  ],
  [
    'declined, a saved method, softly',
    'Charge authorization',
    { ...ofSavedMethod, gateway_response: 'Declined' },
    { kind: 'declined', code: 'card_declined', decline: 'soft' },
  ],
  [
    'declined, a saved method, for good; the metadata is JSON in a text',
    'Charge authorization',
    { ...onPage, metadata: '{"bursar_charge":"saved_method"}', gateway_response: 'Expired Card.' },
    { kind: 'declined', code: 'expired_card', decline: 'hard' },
  ],
  [
    'declined for an unknown reason: another day may help',
    'principle: closed tables',
    { ...ofSavedMethod, gateway_response: 'The moon was full' },
    { kind: 'declined', code: 'provider_declined', decline: 'soft' },
  ],
  [
    'nobody pays at present',
    'Transaction statuses',
    { ...onPage, status: 'abandoned' },
    { kind: 'abandoned' },
  ],
  [
    'a saved method, abandoned',
    'Transaction statuses',
    { ...ofSavedMethod, status: 'abandoned' },
    pending('provider'),
  ],
  [
    'the customer types',
    'Transaction statuses',
    { ...onPage, status: 'ongoing' },
    pending('customer'),
  ],
  ['pending', 'Transaction statuses', { ...onPage, status: 'pending' }, pending('provider')],
  ['processing', 'Transaction statuses', { ...onPage, status: 'processing' }, pending('provider')],
  ['queued', 'Transaction statuses', { ...onPage, status: 'queued' }, pending('provider')],
  ['reversed', 'Transaction statuses', { ...paid, status: 'reversed' }, { kind: 'reversed' }],
  [
    'being reversed',
    'Transaction statuses',
    { ...paid, status: 'reversal pending' },
    { kind: 'reversed' },
  ],
  [
    'a status that no document has',
    'principle',
    { ...paid, status: 'settled' },
    { ...unknown('unrecognized'), word: 'settled' },
  ],
  ['another transaction', 'principle', { ...paid, reference: 'T77' }, unknown('mismatch')],
  ['another currency', 'principle', { ...paid, currency: 'USD' }, unknown('mismatch')],
  [
    'the other environment',
    'principle',
    { ...paid, domain: 'live' },
    { ...unknown('mismatch'), fault: 'environment' },
  ],
  ['no amount', 'principle', { ...paid, amount: null }, unknown('unreadable')],
];

const refund = {
  id: 4_410_229,
  transaction: { id: paid.id, reference: THEIRS, domain: 'test', amount: 500_000 },
  amount: 120_000,
  currency: 'NGN',
  status: 'pending',
  merchant_note: MARKER,
  customer_note: 'Refund INV-118',
  fully_deducted: false,
  dispute: null,
  domain: 'test',
  createdAt: '2026-11-21T09:10:11.000Z',
};
const ourRefund = {
  id: '4410229',
  marker: MARKER,
  charge: { reference: OURS, handle: String(paid.id) },
  dispute: null,
  amountMinor: 120_000n,
  currency: 'NGN',
  state: 'pending',
};

/** [what, source, the row of the list, our refund]. */
export const REFUNDS: [string, string, unknown, unknown][] = [
  ['accepted', 'Create refund', refund, ourRefund],
  ['the id is a text', 'trait: id of a refund', { ...refund, id: '4410229' }, ourRefund],
  [
    'without an id',
    'trait: id of a refund',
    { ...refund, id: undefined },
    { ...ourRefund, id: null },
  ],
  ['fully_deducted is 1', 'trait: fully_deducted', { ...refund, fully_deducted: 1 }, ourRefund],
  ['the amount is a text', 'Refund events', { ...refund, amount: '120000' }, ourRefund],
  ['the transaction is a number', 'List refunds', { ...refund, transaction: paid.id }, ourRefund],
  ['processing', 'Refund statuses', { ...refund, status: 'processing' }, ourRefund],
  [
    'processed',
    'Refund statuses',
    { ...refund, status: 'processed' },
    { ...ourRefund, state: 'succeeded' },
  ],
  [
    'failed',
    'Refund statuses',
    { ...refund, status: 'failed' },
    { ...ourRefund, state: 'rejected' },
  ],
  [
    'needs attention',
    'Refund statuses',
    { ...refund, status: 'needs-attention' },
    { ...ourRefund, state: 'needs_account' },
  ],
  [
    'made on the dashboard',
    'Create refund',
    { ...refund, merchant_note: 'Refund for transaction by desk@example.com' },
    { ...ourRefund, marker: null },
  ],
  [
    'the marker within a note',
    'principle: a whole word',
    { ...refund, merchant_note: `Note: ${MARKER}.` },
    ourRefund,
  ],
  [
    'the marker as a part of a word',
    'principle: a whole word',
    { ...refund, merchant_note: `x${MARKER}` },
    { ...ourRefund, marker: null },
  ],
  ['of a dispute', 'List refunds', { ...refund, dispute: 991 }, { ...ourRefund, dispute: '991' }],
];

export const REFUND = { row: refund, ours: ourRefund, marker: MARKER };

const dispute = {
  id: 2_867,
  refund_amount: 120_000,
  currency: 'NGN',
  status: 'awaiting-merchant-feedback',
  resolution: null,
  domain: 'test',
  transaction: {
    id: paid.id,
    reference: THEIRS,
    amount: 500_000,
    currency: 'NGN',
    status: 'success',
  },
  category: 'chargeback',
  dueAt: '2026-11-24T18:00:00.000Z',
  createdAt: '2026-11-21T09:10:11.000Z',
};
const ourDispute = {
  id: '2867',
  charge: { reference: OURS, handle: String(paid.id) },
  amountMinor: 120_000n,
  currency: 'NGN',
  state: 'open',
  funds: 'with_us',
  reason: 'chargeback',
  dueAt: new Date('2026-11-24T18:00:00.000Z'),
};
const resolved = (resolution: string) => ({ ...dispute, status: 'resolved', resolution });

/** [what, the row of the list, our dispute; null if it cannot be read]. */
export const DISPUTES: [string, unknown, unknown][] = [
  ['open: ours to answer', dispute, ourDispute],
  ['open: with the bank', { ...dispute, status: 'awaiting-bank-feedback' }, ourDispute],
  ['open: pending', { ...dispute, status: 'pending' }, ourDispute],
  [
    'amount and currency are null',
    { ...dispute, refund_amount: null, currency: null },
    { ...ourDispute, amountMinor: 500_000n },
  ],
  ['accepted by us', resolved('merchant-accepted'), { ...ourDispute, state: 'lost' }],
  ['accepted by the passing of time', resolved('auto-accepted'), { ...ourDispute, state: 'lost' }],
  ['declined', resolved('declined'), { ...ourDispute, state: 'won' }],
  [
    'declined, and taken all the same',
    { ...resolved('declined'), transaction: { ...dispute.transaction, status: 'reversed' } },
    { ...ourDispute, state: 'lost' },
  ],
  ['archived', { ...dispute, status: 'archived' }, null],
  ['resolved in a new way', resolved('split'), null],
];

const event = (name: string, data: unknown, extra: object = {}) => ({
  event: name,
  ...extra,
  data,
});
const refundEvent = (status: string) =>
  event(`refund.${status}`, {
    status,
    transaction_reference: THEIRS,
    refund_reference: null,
    amount: '120000',
    currency: 'NGN',
    merchant_note: MARKER,
    customer: { email: 'payer@example.com' },
    integration: 551_204,
    domain: 'test',
  });

/** [what, the message, the reading]. */
export const PAYMENT_MESSAGES: [string, unknown, unknown][] = [
  [
    'charge.success',
    event('charge.success', paid),
    { kind: 'event', about: { subject: 'charge', state: succeeded } },
  ],
  [
    'charge.success of no charge of ours',
    event('charge.success', { ...paid, reference: 'T77' }),
    { kind: 'unreadable' },
  ],
  [
    'charge.success of a virtual account',
    event('charge.success', { ...paid, reference: 'T77', channel: 'dedicated_nuban' }),
    { kind: 'other_port' },
  ],
  [
    'charge.success of the other environment',
    event('charge.success', { ...paid, domain: 'live' }),
    { kind: 'unreadable' },
  ],
  ...(['pending', 'processing', 'processed', 'failed', 'needs-attention'] as const).map(
    (status): [string, unknown, unknown] => [
      `refund.${status}`,
      refundEvent(status),
      {
        kind: 'event',
        about: {
          subject: 'refund',
          refund: {
            id: null,
            marker: MARKER,
            amountMinor: 120_000n,
            state: {
              pending: 'pending',
              processing: 'pending',
              processed: 'succeeded',
              failed: 'rejected',
              'needs-attention': 'needs_account',
            }[status],
          },
        },
      },
    ],
  ),
  [
    'a refund whose name its status contradicts',
    { ...refundEvent('failed'), event: 'refund.processed' },
    { kind: 'unreadable' },
  ],
  ...(['create', 'remind'] as const).map((name): [string, unknown, unknown] => [
    `charge.dispute.${name}`,
    event(`charge.dispute.${name}`, dispute),
    { kind: 'event', about: { subject: 'dispute', dispute: ourDispute } },
  ]),
  [
    'charge.dispute.resolve',
    event('charge.dispute.resolve', resolved('declined')),
    { kind: 'event', about: { subject: 'dispute', dispute: { state: 'won' } } },
  ],
  [
    'a dispute with a new word',
    event('charge.dispute.resolve', resolved('split')),
    { kind: 'unreadable' },
  ],
  [
    'direct_debit.authorization.active, with status and message beside data',
    event(
      'direct_debit.authorization.active',
      { id: 1, domain: 'test' },
      { status: true, message: 'x' },
    ),
    { kind: 'irrelevant' },
  ],
  [
    'direct_debit.authorization.created',
    event('direct_debit.authorization.created', { id: 1 }),
    { kind: 'irrelevant' },
  ],
  ...[
    'invoice.update',
    'subscription.create',
    'paymentrequest.success',
    'bank.transfer.rejected',
  ].map((name): [string, unknown, unknown] => [
    name,
    event(name, { id: 1 }),
    { kind: 'irrelevant' },
  ]),
  ...['dedicatedaccount.assign.success', 'customeridentification.failed', 'transfer.success'].map(
    (name): [string, unknown, unknown] => [
      name,
      event(name, { customer_id: '82' }),
      { kind: 'other_port' },
    ],
  ),
  ['an event that no document has', event('charge.settled', paid), { kind: 'unreadable' }],
];
