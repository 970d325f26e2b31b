import { z } from 'zod';
import { unreadable, type Data } from './client.js';
import { accountBank, accountData, faceOf, type AccountData } from './account-wire.js';
import { referenceIn, type CustomerSettings } from './customers.js';

/** The reading of answers about virtual accounts. */

const mismatch = { kind: 'unknown', reason: 'mismatch' } as const;

const isOf = ({ customer }: AccountData, reference: string, settings: CustomerSettings): boolean =>
  referenceIn(customer?.email, settings) === reference;

/** Reads the answer to a request for an account. Without a number the account is still to be assigned. */
export function readAssigned({ data }: Data, reference: string, settings: CustomerSettings) {
  const parsed = accountData.safeParse(data);
  if (!parsed.success) return unreadable();
  if (!isOf(parsed.data, reference, settings)) return mismatch;
  if (!parsed.data.assigned) return { kind: 'pending' } as const;
  return faceOf(parsed.data) ?? unreadable();
}

/** True for an account of another record's customer, or of one that was made elsewhere. The domain of our own one may be an earlier one. */
const isOfAnother = ({ customer }: AccountData, reference: string): boolean =>
  customer != null && !customer.email.toLowerCase().startsWith(`${reference}@`);

/** Reads an account that was assigned before. One that is assigned no more, or to another customer, is closed. */
export function readKnown({ data }: Data, handle: string, reference: string) {
  const parsed = accountData.safeParse(data);
  if (!parsed.success) return unreadable();
  if (parsed.data.id !== handle) return mismatch;
  const { assigned } = parsed.data;
  if (!assigned || isOfAnother(parsed.data, reference)) return { kind: 'closed' } as const;
  return faceOf(parsed.data) ?? unreadable();
}

/** Reads the answer to a closing, which counts if it names this account and says that our customer does not have it any more. */
export function readClosed(found: Data, handle: string, reference: string) {
  const state = readKnown(found, handle, reference);
  return state.kind === 'assigned' ? unreadable() : state;
}

/**
 * Reads the accounts of a customer, who is that of one record of ours. A request that was repeated may have made two: the
 * first one counts, and nobody is told of the other.
 */
export function readAccounts({ data }: Data, reference: string, settings: CustomerSettings) {
  const rows = z.array(accountData).safeParse(data);
  if (!rows.success) return unreadable();
  const own = rows.data.filter((row) => isOf(row, reference, settings));
  if (own.length === 0) return { kind: 'not_found' } as const;
  const [first] = own
    .filter(({ assigned }) => assigned)
    .toSorted((a, b) => Number(a.id) - Number(b.id));
  return first ? (faceOf(first) ?? unreadable()) : ({ kind: 'pending' } as const);
}

/** Reads the bank of an account by the word that a requery wants. */
export function readSlug({ data }: Data, handle: string) {
  const parsed = accountData.safeParse(data);
  if (parsed.success && parsed.data.id !== handle) return mismatch;
  const slug = parsed.data?.bank?.slug ?? null;
  return slug === null ? unreadable() : ({ kind: 'slug', slug } as const);
}

/** Reads the banks that have virtual accounts: the word of the one with this number, or null. */
export function readSlugOf({ data }: Data, bankId: string) {
  const rows = z.array(z.unknown()).safeParse(data);
  if (!rows.success) return unreadable();
  const found = rows.data
    .map((row) => accountBank.safeParse(row))
    .find((row) => row.success && row.data.bank_id === bankId);
  return { kind: 'bank', slug: found?.data?.provider_slug ?? null } as const;
}
