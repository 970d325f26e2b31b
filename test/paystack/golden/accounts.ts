/**
 * Bodies about virtual accounts, in every form that Paystack's documentation has, with values of our own.
 * `source`: the page of the documentation, or the trait that its examples show.
 */

export const ID = '01kaj2v6wte8v9kcz0t3yd4m5n';
export const OURS = `va_${ID}`;
const DOMAIN = 'accounts.example.com';

export const customer = {
  id: 88_120_551,
  first_name: 'Ada',
  last_name: 'Obi',
  email: `${OURS}@${DOMAIN}`,
  customer_code: 'CUS_9z1y2x3w4v5u6t7',
  phone: '+2348012345678',
  metadata: {},
  risk_action: 'default',
  international_format_phone: '+2348012345678',
};

const account = {
  id: 253_001,
  bank: { name: 'Wema Bank', id: 20, slug: 'wema-bank' },
  account_name: 'INVENTED LTD/ADA OBI',
  account_number: '0009990001',
  assigned: true,
  active: true,
  currency: 'NGN',
  metadata: null,
  created_at: '2026-11-20T09:10:11.000Z',
  updated_at: '2026-11-20T09:10:11.000Z',
  assignment: {
    integration: 428_626,
    assignee_id: 88_120_551,
    assignee_type: 'Customer',
    expired: false,
    account_type: 'PAY-WITH-TRANSFER-RECURRING',
    assigned_at: '2026-11-20T09:10:11.000Z',
    expired_at: null,
  },
  customer,
};
const { assignment: _assignment, metadata: _metadata, ...looked } = account;
export const { customer: _customer, ...closing } = account;

export const assigned = {
  kind: 'assigned',
  handle: '253001',
  accountNumber: '0009990001',
  accountName: 'INVENTED LTD/ADA OBI',
  bankName: 'Wema Bank',
  bankCode: null,
};
export const unknown = (reason: string) => ({ kind: 'unknown', reason });
const elsewhere = { ...account, customer: { ...customer, email: 'ada@example.com' } };

export const ACCOUNTS = { ours: OURS, handle: '253001', domain: DOMAIN };

/** [what, source, the answer's data, the state]. */
export const ASSIGN_ANSWERS: [string, string, unknown, unknown][] = [
  ['assigned at once', 'Create dedicated account', account, assigned],
  [
    'to be assigned later',
    'Create dedicated account',
    { ...account, assigned: false },
    { kind: 'pending' },
  ],
  ['an id in a text', 'shape trap', { ...account, id: '253001' }, assigned],
  ['an address in capitals', 'shape trap', withEmail(customer.email.toUpperCase()), assigned],
  [
    'without a number',
    'principle: read strictly',
    without('account_number'),
    unknown('unreadable'),
  ],
  [
    'of another currency',
    'principle: only this instruction',
    { ...account, currency: 'GHS' },
    unknown('unreadable'),
  ],
  ['of another customer', 'principle: only this instruction', elsewhere, unknown('mismatch')],
  [
    'of no customer',
    'principle: only this instruction',
    { ...account, customer: undefined },
    unknown('mismatch'),
  ],
  [
    'a word in place of a flag',
    'principle',
    { ...account, assigned: 'yes' },
    unknown('unreadable'),
  ],
];

function withEmail(email: string) {
  return { ...account, customer: { ...customer, email } };
}

function without(name: keyof typeof account) {
  return { ...account, [name]: undefined };
}

/** The same for an account whose number at Paystack is known. */
export const KNOWN_ANSWERS: [string, string, unknown, unknown][] = [
  ['assigned', 'Fetch dedicated account', looked, assigned],
  [
    'a split in a text',
    'shape trap: split_config',
    { ...looked, split_config: '{"subaccount":"ACCT_k3v0q8m1zz"}' },
    assigned,
  ],
  ['closed', 'Deactivate dedicated account', { ...closing, assigned: false }, { kind: 'closed' }],
  ['another account', 'principle', { ...looked, id: 253_002 }, unknown('mismatch')],
  [
    'assigned to another customer by now',
    'principle: only this instruction',
    { ...looked, customer: elsewhere.customer },
    { kind: 'closed' },
  ],
  ['of a customer that it does not name', 'principle', { ...looked, customer: null }, assigned],
  [
    'of our customer, under a domain of earlier settings',
    'principle',
    { ...looked, customer: { ...customer, email: `${OURS.toUpperCase()}@earlier.example.com` } },
    assigned,
  ],
];

/** [what, source, the rows of the list of a customer's accounts, the state]. */
export const LISTED_ACCOUNTS: [string, string, unknown, unknown][] = [
  ['one', 'List dedicated accounts', [looked], assigned],
  ['none', 'List dedicated accounts', [], { kind: 'not_found' }],
  [
    'one that is to be assigned',
    'principle',
    [{ ...looked, assigned: false }],
    { kind: 'pending' },
  ],
  [
    'two, of which the first counts',
    'principle: a repeat',
    [{ ...looked, id: 253_007, account_number: '0009990007' }, looked],
    assigned,
  ],
  ['that of another customer', 'principle', [elsewhere], { kind: 'not_found' }],
];
