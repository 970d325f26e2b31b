/**
 * Bodies about transfers, in every form that Paystack's documentation has, with values of our own. `source`: the page of
 * the documentation, or the trait that its examples show.
 */

const REFERENCE = 'trf_01kaj2v6wte8v9kcz0t3yd4m5n';

const base = {
  amount: 1_250_000,
  currency: 'NGN',
  domain: 'test',
  failures: null,
  id: 301_220_417,
  integration: 551_204,
  reason: 'Invoice 118',
  reference: REFERENCE,
  source: 'balance',
  source_details: null,
  status: 'success',
  titan_code: null,
  transfer_code: 'TRF_0u3hs72kq91mzxa',
  request: 744_120_058,
  transferred_at: null,
  createdAt: '2026-11-20T09:10:11.000Z',
  updatedAt: '2026-11-20T09:10:19.000Z',
  recipient: {
    active: true,
    currency: 'NGN',
    domain: 'test',
    id: 90_114_023,
    name: 'Invented Payee',
    recipient_code: 'RCP_7pj3k0d8x2m5v1q',
    type: 'nuban',
    details: { account_number: '0009990001', bank_code: '058', bank_name: 'Guaranty Trust Bank' },
  },
  session: { provider: 'nip', id: '000013261120091019000000000117' },
  fee_charged: 2_500,
  fees_breakdown: null,
};

const pending = { kind: 'pending', awaits: 'provider' };
const paid = {
  kind: 'succeeded',
  amountMinor: 1_250_000n,
  feeMinor: 2_500n,
  sessionId: '000013261120091019000000000117',
};
const rejected = (code: string) => ({ kind: 'rejected', code, scope: 'instruction' });

export const TRANSFERS = { reference: REFERENCE, base };

/** [what, source, the answer's data, the state]. */
export const TRANSFER_ANSWERS: [string, string, unknown, unknown][] = [
  ['paid', 'Verify transfer', base, paid],
  [
    'paid, with a session id of 17 characters',
    'trait: lengths of session ids',
    { ...base, session: { provider: 'nip', id: '00001326112009101' } },
    { ...paid, sessionId: '00001326112009101' },
  ],
  [
    'paid, with no session and no fee yet',
    'trait: session.id is usually null',
    { ...base, session: { provider: null, id: null }, fee_charged: undefined },
    { ...paid, sessionId: null, feeMinor: null },
  ],
  [
    'paid, with a session that is no identifier',
    'principle: no text of the provider',
    { ...base, session: { provider: 'nip', id: 'see <a href>' } },
    { ...paid, sessionId: null },
  ],
  [
    'queued: recipient and integration are numbers',
    'Initiate transfer',
    {
      ...base,
      status: 'pending',
      recipient: 90_114_023,
      fee_charged: undefined,
      session: undefined,
    },
    pending,
  ],
  [
    'queued: the recipient is a code',
    'Bulk transfer',
    { ...base, status: 'pending', recipient: 'RCP_7pj3k0d8x2m5v1q' },
    pending,
  ],
  ['awaits our approval', 'Transfer statuses', { ...base, status: 'received' }, pending],
  [
    'awaits a code that only an operator has',
    'Transfer statuses',
    { ...base, status: 'otp' },
    { kind: 'pending', awaits: 'operator', fault: 'otp_required' },
  ],
  ['failed', 'Transfer statuses', { ...base, status: 'failed' }, rejected('provider_declined')],
  ['abandoned', 'Transfer statuses', { ...base, status: 'abandoned' }, rejected('not_confirmed')],
  ['blocked', 'Transfer statuses', { ...base, status: 'blocked' }, rejected('approval_missed')],
  [
    'rejected: the amount is a text',
    'trait: amount of rejected transfers',
    { ...base, status: 'rejected', amount: '1250000' },
    rejected('approval_rejected'),
  ],
  [
    'reversed',
    'Transfer statuses',
    { ...base, status: 'reversed' },
    { kind: 'reversed', amountMinor: 1_250_000n, sessionId: paid.sessionId },
  ],
  [
    'a status that no document has',
    'principle: an unknown word is unknown',
    { ...base, status: 'parked' },
    { kind: 'unknown', reason: 'unrecognized', word: 'parked' },
  ],
  [
    'another reference',
    'principle: about this instruction',
    { ...base, reference: 'trf_01kaj2v6wte8v9kcz0t3yd4m5p' },
    { kind: 'unknown', reason: 'mismatch' },
  ],
  [
    'another currency',
    'principle: about this instruction',
    { ...base, currency: 'GHS' },
    { kind: 'unknown', reason: 'mismatch' },
  ],
  [
    'the other environment',
    'principle: about this instruction',
    { ...base, domain: 'live' },
    { kind: 'unknown', reason: 'mismatch', fault: 'environment' },
  ],
  [
    'a fraction',
    'principle: strict amounts',
    { ...base, amount: 0.5 },
    { kind: 'unknown', reason: 'unreadable' },
  ],
  [
    'an inexact amount',
    'principle: strict amounts',
    { ...base, amount: 9_007_199_254_740_992 },
    { kind: 'unknown', reason: 'unreadable' },
  ],
  ['nothing', 'principle: a 200 never means paid', {}, { kind: 'unknown', reason: 'unreadable' }],
];

const event = (name: string, data: unknown) => ({ event: name, data });
const live = {
  ...base,
  integration: { id: 551_204, is_live: true, business_name: 'Invented Ltd' },
};

/** [what, the message, the reading]. Source: the events `transfer.*` of the page webhooks. */
export const TRANSFER_MESSAGES: [string, unknown, unknown][] = [
  [
    'transfer.success',
    event('transfer.success', live),
    { kind: 'event', state: { kind: 'succeeded', amountMinor: 1_250_000n } },
  ],
  [
    'transfer.failed',
    event('transfer.failed', { ...live, status: 'failed' }),
    { kind: 'event', state: { kind: 'rejected', code: 'provider_declined' } },
  ],
  [
    'transfer.reversed',
    event('transfer.reversed', { ...live, status: 'reversed' }),
    { kind: 'event', state: { kind: 'reversed', amountMinor: 1_250_000n } },
  ],
  [
    'a name that its status contradicts',
    event('transfer.success', { ...live, status: 'failed' }),
    { kind: 'unreadable' },
  ],
  [
    'a transfer made on the dashboard',
    event('transfer.success', { ...live, reference: 'dashboard-1' }),
    { kind: 'unreadable' },
  ],
  [
    'the other environment',
    event('transfer.success', { ...live, domain: 'live' }),
    { kind: 'unreadable' },
  ],
  ['an event that no document has', event('transfer.parked', live), { kind: 'unreadable' }],
  ['an event of another port', event('charge.success', {}), { kind: 'other_port' }],
  ['an event of no port', event('invoice.create', { id: 1 }), { kind: 'irrelevant' }],
  ['no event', { data: live }, { kind: 'unreadable' }],
];
