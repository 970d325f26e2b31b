/**
 * Bodies about customers and their validation, in every form that Paystack's documentation has, with values of our own.
 * `source`: the page of the documentation, or the trait that its examples show.
 */

const ID = '01kaj2v6wte8v9kcz0t3yd4m5n';
const OURS = `kyc_${ID}`;
const DOMAIN = 'accounts.example.com';
const NOW = new Date('2026-11-20T12:00:00.000Z');
const ACCEPTED_AT = new Date('2026-11-20T09:10:11.000Z');

const customer = {
  id: 88_120_551,
  first_name: 'Ada',
  last_name: 'Obi',
  email: `${OURS}@${DOMAIN}`,
  customer_code: 'CUS_9z1y2x3w4v5u6t7',
  phone: null,
  metadata: { calling_code: '+234' },
  domain: 'test',
  risk_action: 'default',
  identified: false,
  identifications: null,
  createdAt: '2026-11-20T09:10:11.000Z',
  updatedAt: '2026-11-20T09:10:11.000Z',
};
const unknown = (reason: string) => ({ kind: 'unknown', reason });

export const CHECKS = { ours: OURS, domain: DOMAIN, now: NOW, acceptedAt: ACCEPTED_AT };

/** [what, source, the customer, what it says of the check]. */
export const CHECK_ANSWERS: [string, string, unknown, unknown][] = [
  ['identified', 'Fetch customer', { ...customer, identified: true }, { kind: 'verified' }],
  ['not identified: says nothing', 'Fetch customer', customer, { kind: 'pending' }],
  [
    'a word in place of the flag',
    'principle',
    { ...customer, identified: 'no' },
    { kind: 'pending' },
  ],
  [
    'another customer',
    'principle: only this instruction',
    { ...customer, email: 'ada@example.com', identified: true },
    unknown('mismatch'),
  ],
  [
    'of the other environment',
    'principle: only this instruction',
    { ...customer, domain: 'live', identified: true },
    { ...unknown('mismatch'), fault: 'environment' },
  ],
  ['without a code', 'principle', { ...customer, customer_code: undefined }, unknown('unreadable')],
];

const identification = {
  country: 'NG',
  type: 'bank_account',
  bvn: '222*****901',
  account_number: '0009990001',
  bank_code: '058',
};
const success = {
  customer_id: '88120551',
  customer_code: 'CUS_9z1y2x3w4v5u6t7',
  email: customer.email,
  identification,
};
const failed = (reason?: string) => ({ ...success, customer_id: 88_120_551, reason });
const event = (name: string, data: unknown) => ({ event: `customeridentification.${name}`, data });

/** [what, the message, its reading]. Source: the events `customeridentification.*` of the page webhooks. */
export const IDENTITY_MESSAGES: [string, unknown, unknown][] = [
  [
    'customeridentification.success',
    event('success', success),
    { kind: 'event', reference: OURS, state: { kind: 'verified' } },
  ],
  [
    'customeridentification.failed: the data do not match',
    event('failed', failed('Account number or BVN is incorrect')),
    { kind: 'event', reference: OURS, state: { kind: 'rejected', code: 'account_mismatch' } },
  ],
  [
    'customeridentification.failed for a reason that no table has: no rejection of the data',
    event('failed', failed('Issuer is not available')),
    { kind: 'event', state: { kind: 'rejected', code: 'not_checked' } },
  ],
  [
    'customeridentification.failed without a reason',
    event('failed', failed()),
    { kind: 'event', state: { kind: 'rejected', code: 'not_checked' } },
  ],
  [
    'a validation that was made on the dashboard',
    event('success', { ...success, email: 'ada@example.com' }),
    { kind: 'irrelevant' },
  ],
  ['a result without a customer', event('success', { customer_id: 1 }), { kind: 'unreadable' }],
  ['a message about a deposit', { event: 'charge.success', data: {} }, { kind: 'other_port' }],
];
