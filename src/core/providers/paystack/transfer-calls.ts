import { z } from 'zod';
import { toWireAmount } from '../../../shared/money.js';
import type { TransferRequest } from '../transfer-provider.js';
import {
  mismatchOf,
  otherEnvironment,
  unreadable,
  type Data,
  type PaystackClient,
} from './client.js';
import { pageAfter, query } from './lists.js';
import { transferReferences } from './references.js';
import {
  accountData,
  balances,
  recipientData,
  transferData,
  transferState,
} from './transfer-wire.js';

/** The bodies of requests about transfers, and the reading of the answers. */

/** A narration has at most 100 characters. */
const NARRATION_LENGTH = 100;
const ACCOUNT_LENGTH = 10;
/** Paystack wants a name. It is not sent to the recipient's bank, which has the name of the account. */
const UNNAMED = 'Account holder';

/** The recipient's account, with Paystack's code of its bank. */
export type RecipientAccount = { account: string; bankCode: string };

/** The body of a recipient. */
export const recipientBody = ({ account, bankCode }: RecipientAccount, name: string | null) => ({
  type: 'nuban',
  name: name ?? UNNAMED,
  account_number: account,
  bank_code: bankCode,
  currency: 'NGN',
});

/** Reads the answer with a recipient. It counts only if it repeats the account and the bank. */
export function readRecipient({ data }: Data, wanted: RecipientAccount, domain: string) {
  const parsed = recipientData.safeParse(data);
  if (!parsed.success) return unreadable();
  const { details, recipient_code: handle, domain: theirs } = parsed.data;
  const elsewhere = otherEnvironment(theirs, domain);
  if (elsewhere) return elsewhere;
  const isOurs =
    details.account_number.padStart(ACCOUNT_LENGTH, '0') === wanted.account &&
    details.bank_code === wanted.bankCode;
  return isOurs ? ({ kind: 'ready', handle } as const) : mismatch;
}

const mismatch = { kind: 'unknown', reason: 'mismatch' } as const;

/** The body of a transfer. */
export const transferBody = (order: TransferRequest, recipient: string) => ({
  source: 'balance',
  amount: toWireAmount(order.amountMinor),
  currency: order.currency,
  recipient,
  reference: transferReferences.toTheirs(order.reference),
  // By characters: half of an emoji would be no text at all.
  reason: [...order.narration].slice(0, NARRATION_LENGTH).join(''),
});

/** Reads the state of a transfer. */
export function readTransfer({ data }: Data, reference: string, domain: string) {
  const parsed = transferData.safeParse(data);
  if (!parsed.success) return unreadable();
  const expected = { reference: transferReferences.toTheirs(reference), domain };
  return mismatchOf(parsed.data, expected) ?? transferState(parsed.data);
}

/**
 * Reads a page of the list of transfers. Rows of others and rows that cannot be read are left out: absence from a list
 * proves nothing.
 */
export function readTransfers({ data, meta }: Data, page: number, domain: string) {
  const rows = z.array(z.unknown()).safeParse(data);
  if (!rows.success) return unreadable();
  const items = rows.data.flatMap((row) => {
    const parsed = transferData.safeParse(row);
    const reference = parsed.success ? transferReferences.toOurs(parsed.data.reference) : null;
    if (!parsed.success || reference === null) return [];
    if (mismatchOf(parsed.data, { reference: parsed.data.reference, domain })) return [];
    const state = transferState(parsed.data);
    return state.kind === 'unknown' ? [] : [{ reference, handle: null, state }];
  });
  return { kind: 'page', items, next: pageAfter(meta, page, rows.data.length) } as const;
}

/** Asks for the holder of an account at a bank, named by Paystack's code. */
export function askHolder(
  client: PaystackClient,
  { account, bankCode }: { account: string; bankCode: string },
  signal: AbortSignal,
) {
  const path = `/bank/resolve?${query({ account_number: account, bank_code: bankCode })}`;
  const request = { call: 'resolve', method: 'GET', path } as const;
  return client.verify(request, signal, (found) => readHolder(found, account));
}

/** Reads the name of an account's holder. */
export function readHolder({ data }: Data, account: string) {
  const parsed = accountData.safeParse(data);
  if (!parsed.success) return unreadable();
  const isSame = parsed.data.account_number.padStart(ACCOUNT_LENGTH, '0') === account;
  return isSame ? ({ kind: 'holder', name: parsed.data.account_name } as const) : mismatch;
}

/** Reads our balance. */
export function readBalance({ data }: Data, domain: string) {
  const parsed = balances.safeParse(data);
  const found = parsed.success ? parsed.data.find(({ currency }) => currency === 'NGN') : undefined;
  if (!found) return unreadable();
  const elsewhere = otherEnvironment(found.domain, domain);
  if (elsewhere) return elsewhere;
  return { kind: 'balance', availableMinor: BigInt(found.balance), currency: 'NGN' } as const;
}
