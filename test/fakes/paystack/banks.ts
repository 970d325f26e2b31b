import { done, refused, type Answer } from './answers.js';
import type { Request } from './http.js';

/** Banks with codes of different lengths, one that takes no transfers, one that is deleted, one of another type. */
const BANKS = [
  { id: 9, name: 'Guaranty Trust Bank', code: '058', nip_sort_code: '000013' },
  { id: 1, name: 'Access Bank', code: '044', nip_sort_code: '000014' },
  { id: 67, name: 'Kuda Bank', code: '50211', nip_sort_code: '090267' },
  {
    id: 171,
    name: 'OPay Digital Services Limited (OPay)',
    code: '999992',
    nip_sort_code: '100004',
  },
  { id: 21, name: 'Zenith Bank', code: '057' },
  { id: 900, name: 'Receives Nothing Bank', code: '901', supports_transfer: false },
  { id: 901, name: 'Closed Bank', code: '902', is_deleted: true },
  { id: 902, name: 'Sleeping Bank', code: '903', active: false },
  { id: 903, name: 'Wallets of Elsewhere', code: '904', type: 'mobile_money' },
].map((bank) => ({
  slug: bank.name.toLowerCase().replaceAll(' ', '-'),
  country: 'Nigeria',
  currency: 'NGN',
  type: 'nuban',
  active: true,
  is_deleted: null,
  supports_transfer: true,
  longcode: '',
  gateway: null,
  ...bank,
}));

const PAGE = 5;

/** GET /bank, by cursor. */
export function listBanks({ query }: Request): Answer {
  const from = Number(query['next']?.replace('bank-', '') ?? 0);
  const next = from + PAGE < BANKS.length ? `bank-${from + PAGE}` : null;
  return done('Banks retrieved', BANKS.slice(from, from + PAGE), {
    next,
    previous: null,
    perPage: 100,
  });
}

/** Tells whether a code is that of a bank. */
export const bankOf = (code: string) => BANKS.find((bank) => bank.code === code);

/** GET /bank/resolve. An account that ends in 003 is unknown. */
export function resolveAccount({ query }: Request): Answer {
  const { account_number: account = '', bank_code: code = '' } = query;
  if (!bankOf(code)) return refused(400, 'Unknown bank code');
  if (!/^[0-9]{10}$/.test(account) || account.endsWith('003')) {
    return refused(422, 'Could not resolve account name. Check parameters or try again.');
  }
  const bank_id = bankOf(code)?.id;
  return done('Account number resolved', {
    account_number: account,
    account_name: holderOf(account),
    bank_id,
  });
}

/** The holder of an account. */
export const holderOf = (account: string) => `Adaeze Holder ${account.slice(-3)}`;
