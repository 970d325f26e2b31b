import type { CheckAbout, CheckRequest, CheckSubject } from '../identity-provider.js';
import type { Data } from './client.js';
import { customerIn, type CustomerSettings } from './customers.js';

/** The requests and the answers of identity checks. No number and no name is in what is read. */

/** Paystack's word on a check comes within minutes. After this time without one it could not be done. */
const PENDING_FOR_MS = 24 * 60 * 60 * 1000;

/** The subject of a check of an account that a BVN must own. */
export type OwnedAccount = Extract<CheckSubject, { accountNumber: string }> & { bvn: string };

/** The body of a check. `bankCode` is Paystack's code of the bank. */
export const identificationBody = (
  { accountNumber, bvn, firstName, lastName }: OwnedAccount,
  bankCode: string,
) => ({
  country: 'NG',
  type: 'bank_account',
  account_number: accountNumber,
  bvn,
  bank_code: bankCode,
  first_name: firstName,
  last_name: lastName,
});

/** The subject of a request for the one type of check that is offered; null for any other. */
export const accountIn = ({ checkType, subject }: CheckRequest) =>
  checkType === 'bank_account' && 'accountNumber' in subject ? subject : null;

/**
 * Reads a check from its customer, who was made for it. "Not identified" says nothing. Paystack may never have got a check that
 * it has not accepted: the customer is made by a request of its own. So that check is not found and is sent again, which checks
 * the same data again. An accepted one is pending, until the result is long overdue: then it was lost.
 */
export function readCheck(
  found: Data,
  { reference, acceptedAt }: Omit<CheckAbout, 'handle'>,
  settings: CustomerSettings,
  now: Date,
) {
  const customer = customerIn(found, reference, settings);
  if (customer.kind !== 'customer') return customer;
  if (customer.identified) return { kind: 'verified' } as const;
  if (acceptedAt === null) return { kind: 'not_found' } as const;
  return now.getTime() - acceptedAt.getTime() > PENDING_FOR_MS
    ? ({ kind: 'rejected', code: 'not_checked', scope: 'instruction' } as const)
    : ({ kind: 'pending' } as const);
}

/** True if every word of both names is a word of the account's name. Case, accents and the order of words do not matter. */
export function isHolder(
  { firstName, lastName }: Pick<CheckSubject, 'firstName' | 'lastName'>,
  accountName: string,
): boolean {
  const held = new Set(wordsOf(accountName));
  const wanted = [wordsOf(firstName), wordsOf(lastName)];
  return wanted.every((words) => words.length > 0 && words.every((word) => held.has(word)));
}

const wordsOf = (name: string): string[] =>
  name
    .normalize('NFD')
    .replaceAll(/[\p{M}'’]/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
