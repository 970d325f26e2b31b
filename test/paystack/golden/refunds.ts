import { CHARGES, succeeded } from './payments.js';

/**
 * Bodies about refunds and disputes, and messages about payments, with values of our own. `source`: the page of the
 * documentation, or the trait that its examples show.
 */

const MARKER = 'ref_01kaj2v6wte8v9kcz0t3yd4m5n';
const { ours: OURS, theirs: THEIRS, paid } = CHARGES;

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
/** Nobody waits for us, although Paystack still names a time. */
const answered = { ...ourDispute, dueAt: null };
const resolved = (resolution: string) => ({ ...dispute, status: 'resolved', resolution });

/** [what, the row of the list, our dispute; null if it cannot be read]. Source: list disputes, in the API reference. */
export const DISPUTES: [string, unknown, unknown][] = [
  ['open: ours to answer', dispute, ourDispute],
  ['open: with the bank', { ...dispute, status: 'awaiting-bank-feedback' }, answered],
  ['open: pending', { ...dispute, status: 'pending' }, answered],
  [
    'amount and currency are null',
    { ...dispute, refund_amount: null, currency: null },
    { ...ourDispute, amountMinor: 500_000n },
  ],
  ['accepted by us', resolved('merchant-accepted'), { ...answered, state: 'lost' }],
  ['accepted by the passing of time', resolved('auto-accepted'), { ...answered, state: 'lost' }],
  ['declined', resolved('declined'), { ...answered, state: 'won' }],
  [
    'declined, and taken all the same',
    { ...resolved('declined'), transaction: { ...dispute.transaction, status: 'reversed' } },
    { ...answered, state: 'lost', byReversal: true },
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

/** The same as the official samples have it: without an id, the notes, the dispute and the times. */
export const sampleRefundEvent = (status: string) => {
  const { merchant_note: _, ...data } = (refundEvent(status) as { data: { merchant_note: string } })
    .data;
  return event(`refund.${status}`, data);
};

/** [what, the message, the reading]. Source: the events `charge.*` and `refund.*` of the page webhooks. */
export const PAYMENT_MESSAGES: [string, unknown, unknown][] = [
  [
    'charge.success',
    event('charge.success', paid),
    { kind: 'event', about: { subject: 'charge', state: succeeded } },
  ],
  [
    'charge.success of a charge that is reversed by now',
    event('charge.success', { ...paid, status: 'reversed' }),
    { kind: 'event', about: { subject: 'charge', state: { kind: 'reversed' } } },
  ],
  [
    'charge.success of no charge of ours',
    event('charge.success', { ...paid, reference: 'T77' }),
    { kind: 'other_port' },
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
  ...(['pending', 'processing', 'processed', 'failed'] as const).map(
    (status): [string, unknown, unknown] => [
      `refund.${status}, as its sample`,
      sampleRefundEvent(status),
      {
        kind: 'event',
        about: {
          subject: 'refund',
          refund: {
            id: null,
            marker: null,
            dispute: null,
            charge: { reference: OURS, handle: null },
            amountMinor: 120_000n,
          },
        },
      },
    ],
  ),
  [
    'a refund of no charge of ours',
    {
      event: 'refund.processed',
      data: {
        ...(refundEvent('processed') as { data: object }).data,
        transaction_reference: 'T77',
      },
    },
    { kind: 'other_port' },
  ],
  [
    'a refund whose name its status contradicts',
    { ...refundEvent('failed'), event: 'refund.processed' },
    { kind: 'unreadable' },
  ],
  ...(
    [
      ['create', false],
      ['remind', true],
    ] as const
  ).map(([name, reminds]): [string, unknown, unknown] => [
    `charge.dispute.${name}`,
    event(`charge.dispute.${name}`, dispute),
    { kind: 'event', about: { subject: 'dispute', dispute: ourDispute, reminds } },
  ]),
  ...(['charge.dispute.create', 'refund.processed'] as const).map(
    (name): [string, unknown, unknown] => [
      `${name} of the other environment`,
      event(name, { ...(name === 'refund.processed' ? refund : dispute), domain: 'live' }),
      { kind: 'unreadable' },
    ],
  ),
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
    'direct_debit.authorization.active, which names the mandate',
    event('direct_debit.authorization.active', { id: 1, domain: 'test', reference: 'dfbzfotsrb' }),
    {
      kind: 'event',
      reference: 'dfbzfotsrb',
      about: { subject: 'setup', state: { kind: 'pending' } },
    },
  ],
  [
    'direct_debit.authorization.created',
    event('direct_debit.authorization.created', { id: 1 }),
    { kind: 'irrelevant' },
  ],
  ...[
    'invoice.update',
    'invoice.payment_failed',
    'subscription.disable',
    'subscription.not_renew',
    'subscription.expiring_cards',
    'paymentrequest.pending',
    'preauthorization.success',
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
