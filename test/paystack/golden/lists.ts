import { CHARGES } from './payments.js';
import { TRANSFERS } from './transfers.js';

/**
 * Bodies of lists, of customers and of the calls about banks, with values of our own. `source`: the page of the documentation, or the
 * trait that its examples show.
 */

const unreadable = { kind: 'unknown', reason: 'unreadable' };
const mismatch = { kind: 'unknown', reason: 'mismatch' };
const environment = { ...mismatch, fault: 'environment' };

/** [what, source, the answer's data, what it means]. */
export type Rows = [string, string, unknown, unknown][];

const { base, reference } = TRANSFERS;
const listed = {
  reference,
  handle: null,
  state: {
    kind: 'succeeded',
    amountMinor: 1_250_000n,
    feeMinor: 2_500n,
    sessionId: '000013261120091019000000000117',
  },
};
const pageOf = (...items: unknown[]) => ({ kind: 'page', items, next: null });

/** The list of transfers. */
export const TRANSFER_LISTS: Rows = [
  ['one of ours', 'List transfers', [base], pageOf(listed)],
  [
    'the recipient is an object, the integration too',
    'trait: recipient and integration of a transfer',
    [{ ...base, integration: { id: 551_204, business_name: 'Invented Ltd' } }],
    pageOf(listed),
  ],
  [
    'one that has not ended, without a fee',
    'List transfers',
    [{ ...base, status: 'pending', fee_charged: undefined, session: null }],
    pageOf({ ...listed, state: { kind: 'pending', awaits: 'provider' } }),
  ],
  ['one of the dashboard', 'principle', [{ ...base, reference: 'T77' }, base], pageOf(listed)],
  ['one of the other environment', 'principle', [{ ...base, domain: 'live' }], pageOf()],
  ['an unknown word proves nothing', 'principle', [{ ...base, status: 'parked' }], pageOf()],
  ['rows that cannot be read', 'principle', ['nothing', { ...base, amount: -5 }], pageOf()],
  ['none', 'List transfers', [], pageOf()],
  ['no list', 'principle', {}, unreadable],
];

/** The record that has the customer, and the settings that name its address. */
export const CUSTOMER = {
  ours: 'va_01kaj2v6wte8v9kcz0t3yd4m5n',
  domain: 'accounts.example.com',
};

const customer = {
  id: 88_120_551,
  integration: 551_204,
  first_name: null,
  last_name: null,
  email: `${CUSTOMER.ours}@${CUSTOMER.domain}`,
  phone: null,
  metadata: {},
  domain: 'test',
  customer_code: 'CUS_9z1y2x3w4v5u6t7',
  risk_action: 'default',
  identified: false,
  identifications: null,
  createdAt: '2026-11-20T09:10:11.000Z',
  updatedAt: '2026-11-20T09:10:11.000Z',
};
const found = {
  kind: 'customer',
  id: '88120551',
  code: 'CUS_9z1y2x3w4v5u6t7',
  identified: false,
};

/** A customer. */
export const CUSTOMERS: Rows = [
  ['created, or known before', 'Create customer', customer, found],
  [
    'identified',
    'Fetch customer',
    { ...customer, identified: true },
    { ...found, identified: true },
  ],
  ['without the flag', 'Create customer', { ...customer, identified: undefined }, found],
  ['without an environment', 'trait: domain', { ...customer, domain: undefined }, found],
  ['a number in a text', 'trait: ids', { ...customer, id: '88120551' }, found],
  [
    'an address in capitals',
    'trait: e-mail',
    { ...customer, email: customer.email.toUpperCase() },
    found,
  ],
  ['of another record', 'principle', { ...customer, email: 'ada@example.com' }, mismatch],
  ['of the other environment', 'principle', { ...customer, domain: 'live' }, environment],
  ['without a code', 'principle', { ...customer, customer_code: null }, unreadable],
  ['without an address', 'principle', { ...customer, email: undefined }, unreadable],
];

/** The account that the answers are about. */
export const HANDLE = '253001';

const account = {
  id: 253_001,
  bank: { name: 'Wema Bank', id: 20, slug: 'wema-bank' },
  account_name: 'INVENTED LTD/ADA OBI',
  account_number: '0009990001',
  assigned: false,
  currency: 'NGN',
  metadata: null,
  active: true,
  created_at: '2026-11-20T09:10:11.000Z',
  updated_at: '2026-11-20T09:11:12.000Z',
};

/** The closing of an account. */
export const CLOSINGS: Rows = [
  ['assigned to nobody', 'Deactivate dedicated account', account, { kind: 'closed' }],
  ['a number in a text', 'trait: ids', { ...account, id: HANDLE }, { kind: 'closed' }],
  ['still assigned', 'principle', { ...account, assigned: true }, unreadable],
  ['of another account', 'principle', { ...account, id: 253_002 }, mismatch],
  ['without the flag', 'principle', { ...account, assigned: undefined }, unreadable],
];

/** The bank of an account, by the word that a requery wants. */
export const SLUGS: Rows = [
  ['with its bank', 'Fetch dedicated account', account, { kind: 'slug', slug: 'wema-bank' }],
  ['without a word', 'principle', { ...account, bank: { name: 'Wema Bank', id: 20 } }, unreadable],
  [
    'a word that is a path',
    'principle',
    { ...account, bank: { name: 'Wema', slug: '../x' } },
    unreadable,
  ],
  ['without a bank', 'principle', { ...account, bank: null }, unreadable],
  ['of another account', 'principle', { ...account, id: 253_002 }, mismatch],
];

/** The number of the bank that is looked for. */
export const BANK_ID = '20';

const wema = { provider_slug: 'wema-bank', bank_id: 20, bank_name: 'Wema Bank', id: 5 };
const titan = { provider_slug: 'titan-paystack', bank_id: 629, bank_name: 'Paystack-Titan', id: 4 };

/** The banks that have virtual accounts. */
export const ACCOUNT_BANKS: Rows = [
  ['among others', 'Fetch bank providers', [titan, wema], { kind: 'bank', slug: 'wema-bank' }],
  [
    'a number in a text',
    'trait: ids',
    [{ ...wema, bank_id: '20' }],
    { kind: 'bank', slug: 'wema-bank' },
  ],
  [
    'its own number is not that of its bank',
    'principle',
    [{ ...titan, id: 20 }],
    { kind: 'bank', slug: null },
  ],
  [
    'a row that cannot be read hides no other',
    'principle',
    ['nothing', wema],
    { kind: 'bank', slug: 'wema-bank' },
  ],
  ['none', 'principle', [], { kind: 'bank', slug: null }],
  ['no list', 'principle', {}, unreadable],
];

const bank = {
  id: 9,
  name: 'Guaranty Trust Bank',
  slug: 'guaranty-trust-bank',
  code: '058',
  longcode: '058152036',
  gateway: 'ibank',
  pay_with_bank: false,
  supports_transfer: true,
  active: true,
  country: 'Nigeria',
  currency: 'NGN',
  type: 'nuban',
  is_deleted: false,
};
const ours = { name: 'Guaranty Trust Bank', code: '058', nipCode: '000013', id: '9' };
const banks = (isWhole: boolean, ...of: unknown[]) => ({ kind: 'banks', banks: of, isWhole });
const other = { ...bank, code: '044' };

/** The list of banks. */
export const BANKS: Rows = [
  ['one that takes transfers', 'List banks', [bank], banks(true, ours)],
  [
    'with its interbank code',
    'trait: the name of the field is not documented',
    [{ ...bank, code: '50211', nip_sort_code: '090267' }],
    banks(true, { ...ours, code: '50211', nipCode: '090267' }),
  ],
  [
    'without an interbank code that is known',
    'principle',
    [{ ...bank, code: '00900' }],
    banks(true, { ...ours, code: '00900', nipCode: null }),
  ],
  [
    'null in place of flags',
    'trait: is_deleted',
    [{ ...bank, is_deleted: null }],
    banks(true, ours),
  ],
  [
    'one without transfers',
    'List banks',
    [bank, { ...other, supports_transfer: false }],
    banks(true, ours),
  ],
  ['a deleted one', 'List banks', [bank, { ...other, is_deleted: true }], banks(true, ours)],
  ['one that is not active', 'List banks', [bank, { ...other, active: false }], banks(true, ours)],
  ['mobile money', 'List banks', [bank, { ...other, type: 'mobile_money' }], banks(true, ours)],
  [
    'a code that is a number is none',
    'principle',
    [bank, { ...other, code: 44 }],
    banks(false, ours),
  ],
  [
    'a word in place of a flag',
    'principle',
    [bank, { ...other, active: 'yes' }],
    banks(false, ours),
  ],
  ['none that takes transfers', 'principle', [{ ...bank, active: false }], unreadable],
  ['none', 'principle', [], unreadable],
  ['no list', 'principle', {}, unreadable],
];

const MARKER = 'ref_01kaj2v6wte8v9kcz0t3yd4m5n';
const row = {
  id: 71_204_001,
  integration: 551_204,
  domain: 'test',
  balance: 98_747_500,
  currency: 'NGN',
  difference: -1_252_500,
  reason: 'Invented reason',
  model_responsible: 'Transfer',
  model_row: 301_220_417,
  createdAt: '2026-11-20T09:10:19.000Z',
  updatedAt: '2026-11-20T09:10:19.000Z',
};
const entry = {
  id: '71204001',
  balanceMinor: 98_747_500n,
  at: new Date('2026-11-20T09:10:19.000Z'),
  own: false,
  reference,
  amountMinor: -1_250_000n,
  feeMinor: 2_500n,
};
const transaction = {
  ...row,
  model_responsible: 'Transaction',
  model_row: CHARGES.paid.id,
  difference: 492_500,
};
const charged = { ...entry, reference: CHARGES.ours, amountMinor: 500_000n, feeMinor: 7_500n };
const refund = { ...row, model_responsible: 'Refund', model_row: 4_410_229, difference: -120_000 };
const refunded = { ...entry, amountMinor: -120_000n, feeMinor: 0n };

/** The things behind the rows of the ledger, by their paths. */
export const LEDGER_THINGS: Readonly<Record<string, unknown>> = {
  '/transfer/301220417': base,
  [`/transaction/${CHARGES.paid.id}`]: CHARGES.paid,
  '/transaction/77': { ...CHARGES.paid, id: 77, reference: 'T77' },
  '/refund/4410229': { id: 4_410_229, amount: 120_000, merchant_note: MARKER },
  '/refund/4410230': { id: 4_410_230, amount: 120_000, merchant_note: null, transaction: 77 },
  '/refund/4410231': {
    id: '4410231',
    amount: '120000',
    merchant_note: 'by the desk',
    dispute: 5_512,
    transaction: { id: CHARGES.paid.id, reference: CHARGES.theirs },
  },
};

/** The ledger of our balance. */
export const LEDGER: Rows = [
  ['a transfer, with its fee', 'Fetch balance ledger', [row], pageOf(entry)],
  ['a paid charge', 'trait: rows of models', [transaction], pageOf(charged)],
  [
    'a refund of ours',
    'trait: rows of models',
    [refund],
    pageOf({ ...refunded, reference: MARKER }),
  ],
  [
    'a refund of a deposit, which names a transaction by its number',
    'trait: transaction of a refund',
    [{ ...refund, model_row: 4_410_230 }],
    pageOf({ ...refunded, reference: 'T77' }),
  ],
  [
    'the refund of a dispute',
    'trait: dispute of a refund',
    [{ ...refund, model_row: '4410231' }],
    pageOf({ ...refunded, reference: '5512', of: 'dispute' }),
  ],
  [
    'money between us and Paystack',
    'trait: rows of models',
    [{ ...row, difference: 70_000, model_responsible: 'Topup', model_row: null }],
    pageOf({
      ...entry,
      own: true,
      reference: 'Topup/71204001',
      amountMinor: 70_000n,
      feeMinor: null,
    }),
  ],
  [
    'a thing that is not found stays under its name',
    'principle',
    [{ ...row, model_row: 5 }],
    pageOf({ ...entry, reference: 'Transfer/5', amountMinor: -1_252_500n, feeMinor: null }),
  ],
  ['of another currency', 'principle', [{ ...row, currency: 'USD' }, row], pageOf(entry)],
  ['a row that cannot be read hides no other', 'principle', ['nothing', row], pageOf(entry)],
  ['of the other environment', 'principle', [{ ...row, domain: 'live' }, row], environment],
  ['no row that can be read', 'principle', [{ ...row, balance: '98747500' }], unreadable],
  ['none', 'Fetch balance ledger', [], pageOf()],
  ['no list', 'principle', {}, unreadable],
];
