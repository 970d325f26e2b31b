import { z } from 'zod';
import type { ProviderDeposit } from '../account-provider.js';
import { mismatchOf, unreadable, type Data } from './client.js';
import {
  amount,
  currency,
  dateOf,
  domain,
  optionalAmount,
  reference,
  text,
  time,
  word,
  wordOf,
} from './fields.js';
import { pageAfter } from './lists.js';
import { chargeReferences } from './references.js';

/** The account of money that came on none: a payment that was started at Paystack and not by us. */
const NO_ACCOUNT = '';

/** The channel of money on a virtual account. */
const CHANNEL = 'dedicated_nuban';

const accountNumber = z
  .string()
  .regex(/^[0-9]{10}$/)
  .nullish()
  .catch(null);
const shortText = z.string().min(1).max(200).nullish().catch(null);

/** A transaction as money that arrived. The account is in `authorization`, and in some bodies in `metadata` too. */
const depositData = z.looseObject({
  reference,
  status: word,
  amount,
  currency,
  domain,
  fees: optionalAmount,
  channel: text,
  authorization: z
    .looseObject({
      receiver_bank_account_number: accountNumber,
      sender_name: shortText,
      sender_bank: shortText,
      sender_bank_account_number: z.string().max(34).nullish().catch(null),
      narration: z.string().max(500).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  metadata: z.looseObject({ receiver_account_number: accountNumber }).nullish().catch(null),
  paid_at: time,
  paidAt: time,
  created_at: time,
  createdAt: time,
});

type DepositData = z.infer<typeof depositData>;

/** True if the transaction was started by us: its money belongs to a charge. */
const isOfCharge = ({ reference: theirs }: DepositData): boolean =>
  chargeReferences.toOurs(theirs) !== null;

/**
 * Converts a transaction; null if it does not tell its account or its time. The whole amount arrived, and Paystack keeps the
 * fee of it, whoever bears that.
 */
function depositOf(found: DepositData): ProviderDeposit | null {
  const { authorization, metadata, channel } = found;
  const onAccount =
    authorization?.receiver_bank_account_number ?? metadata?.receiver_account_number ?? null;
  const account = channel === CHANNEL ? onAccount : NO_ACCOUNT;
  const receivedAt = dateOf(found.paid_at, found.paidAt, found.created_at, found.createdAt);
  if (account === null || receivedAt === null || found.amount === 0n) return null;
  return {
    id: found.reference,
    accountNumber: account,
    amountMinor: found.amount,
    feeMinor: found.fees ?? null,
    currency: found.currency,
    sessionId: null,
    sender: {
      name: authorization?.sender_name ?? null,
      account: authorization?.sender_bank_account_number ?? null,
      bank: authorization?.sender_bank ?? null,
    },
    narration: authorization?.narration ?? null,
    receivedAt,
  };
}

/** Reads a transaction as a deposit. One that a charge has started is none. */
export function readDeposit({ data }: Data, id: string, ours: string) {
  const parsed = depositData.safeParse(data);
  if (!parsed.success) return unreadable();
  const { currency: _, ...found } = parsed.data;
  const wrong = mismatchOf(found, { reference: id, domain: ours });
  if (wrong) return wrong;
  if (isOfCharge(parsed.data)) return { kind: 'unknown', reason: 'mismatch' } as const;
  const { status } = parsed.data;
  if (status === 'reversed') return { kind: 'reversed' } as const;
  // The reversal may still fail: a later answer decides.
  if (status === 'reversal pending') return { kind: 'unknown', reason: 'conflict' } as const;
  if (status !== 'success') {
    return { kind: 'unknown', reason: 'unrecognized', ...wordOf(status) } as const;
  }
  const deposit = depositOf(parsed.data);
  return deposit ? ({ kind: 'received', deposit } as const) : unreadable();
}

/**
 * Reads a page of the list of paid transactions. Those of charges are left out, and rows that cannot be read, which hide no
 * other: absence from a list proves nothing.
 */
export function readDeposits({ data, meta }: Data, page: number, ours: string) {
  const rows = z.array(z.unknown()).safeParse(data);
  if (!rows.success) return unreadable();
  const items = rows.data.flatMap((row) => {
    const parsed = depositData.safeParse(row);
    if (!parsed.success || isOfCharge(parsed.data) || parsed.data.status !== 'success') return [];
    if (parsed.data.domain != null && parsed.data.domain !== ours) return [];
    const deposit = depositOf(parsed.data);
    return deposit ? [deposit] : [];
  });
  return { kind: 'page', items, next: pageAfter(meta, page, rows.data.length) } as const;
}

/** The status words in a message about money that arrived. It may be sent, or sent again, after the money went back. */
const TOLD: ReadonlyMap<string, 'received' | 'reversed'> = new Map([
  ['success', 'received'],
  ['reversed', 'reversed'],
  ['reversal pending', 'reversed'],
]);

/** Reads the data of a message: a deposit and its state, `charge` for money of a charge, or null. */
export function depositIn(
  data: unknown,
): (ProviderDeposit & { kind: 'received' | 'reversed' }) | 'charge' | null {
  const parsed = depositData.safeParse(data);
  if (!parsed.success) return null;
  if (isOfCharge(parsed.data)) return 'charge';
  const kind = TOLD.get(parsed.data.status);
  const deposit = kind && depositOf(parsed.data);
  return deposit ? { ...deposit, kind } : null;
}
