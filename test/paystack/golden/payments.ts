/**
 * Bodies about transactions, in every form that Paystack's documentation has, with values of our own.
 * `source`: the page of the documentation, or the trait that its examples show.
 */

const ID = '01kaj2v6wte8v9kcz0t3yd4m5n';
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
export const succeeded = {
  kind: 'succeeded',
  amountMinor: 500_000n,
  surchargeMinor: 0n,
  feeMinor: 7_500n,
  currency: 'NGN',
  method,
};
const pending = (awaits: string, lastDecline: object | null = null) => ({
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
    pending('customer', { code: 'insufficient_funds', decline: 'soft' }),
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
