import { z } from 'zod';
import type { AccountState } from '../account-provider.js';
import { currency, email, numericId } from './fields.js';

const shortText = z.string().min(1).max(200);
const slug = z.string().regex(/^[a-z0-9-]{1,60}$/);

/** The customer in a body. Only the address is read: it has our id. */
export const accountHolder = z.looseObject({ email }).nullish().catch(null);

/** A dedicated virtual account. Before its assignment it may have no number. */
export const accountData = z.looseObject({
  id: numericId,
  assigned: z.boolean(),
  account_number: z
    .string()
    .regex(/^[0-9]{10}$/)
    .nullish()
    .catch(null),
  account_name: shortText.nullish().catch(null),
  currency: currency.nullish().catch(null),
  bank: z
    .looseObject({ name: shortText, slug: slug.nullish().catch(null) })
    .nullish()
    .catch(null),
  customer: accountHolder,
});

/** A parsed account. */
export type AccountData = z.infer<typeof accountData>;

/** A bank that has virtual accounts. */
export const accountBank = z.looseObject({ provider_slug: slug, bank_id: numericId });

/** The message about an assignment. It names the customer beside the account. */
export const assignmentData = z.looseObject({
  customer: accountHolder,
  dedicated_account: z.unknown().optional(),
});

/** The account as payers see it; null if it has none yet, or is none in naira. Paystack does not tell the bank's code. */
export function faceOf(account: AccountData): Extract<AccountState, { kind: 'assigned' }> | null {
  const { id: handle, account_number, account_name, bank } = account;
  const isNaira = account.currency == null || account.currency === 'NGN';
  if (!account.assigned || !isNaira || !account_number || !account_name || !bank) return null;
  return {
    kind: 'assigned',
    handle,
    accountNumber: account_number,
    accountName: account_name,
    bankName: bank.name,
    bankCode: null,
  };
}
