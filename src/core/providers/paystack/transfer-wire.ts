import { z } from 'zod';
import {
  amount,
  currency,
  domain,
  identifier,
  optionalAmount,
  optionalId,
  reference,
  time,
  word,
  wordOf,
} from './fields.js';

/** A transfer at Paystack. `recipient` and `integration` have three forms and are not read. */
export const transferData = z.looseObject({
  id: optionalId,
  reference,
  status: word,
  amount,
  currency,
  domain,
  fee_charged: optionalAmount,
  session: z.looseObject({ id: identifier }).nullish().catch(null),
  createdAt: time,
  created_at: time,
  updatedAt: time,
  updated_at: time,
});

/** A parsed transfer. */
export type TransferData = z.infer<typeof transferData>;

/** The state that a status word means. */
type Outcome =
  | 'succeeded'
  | 'reversed'
  | 'pending'
  | 'operator'
  /** Ended without a payment, with this code. */
  | { rejected: string };

/**
 * The status words of a transfer. `otp` awaits a code that Bursar never enters. `failed` can mean that Paystack gave up on
 * its processor, so a later proof of payment is possible.
 */
const STATUSES: Readonly<Record<string, Outcome>> = {
  success: 'succeeded',
  pending: 'pending',
  received: 'pending',
  otp: 'operator',
  failed: { rejected: 'provider_declined' },
  abandoned: { rejected: 'not_confirmed' },
  blocked: { rejected: 'approval_missed' },
  rejected: { rejected: 'approval_rejected' },
  reversed: 'reversed',
};

/** The state of a transfer, or unknown for a word that is not in the table. */
export function transferState(transfer: TransferData) {
  const outcome = Object.hasOwn(STATUSES, transfer.status) ? STATUSES[transfer.status] : undefined;
  const sessionId = transfer.session?.id ?? null;
  const { amount: amountMinor } = transfer;
  switch (outcome) {
    case undefined:
      return { kind: 'unknown', reason: 'unrecognized', ...wordOf(transfer.status) } as const;
    case 'succeeded':
      return {
        kind: 'succeeded',
        amountMinor,
        feeMinor: transfer.fee_charged ?? null,
        sessionId,
      } as const;
    case 'reversed':
      return { kind: 'reversed', amountMinor, sessionId } as const;
    case 'pending':
      return { kind: 'pending', awaits: 'provider' } as const;
    case 'operator':
      return { kind: 'pending', awaits: 'operator', fault: 'otp_required' } as const;
    default:
      return { kind: 'rejected', code: outcome.rejected, scope: 'instruction' } as const;
  }
}

/** The recipient that a transfer needs. `details` repeats the account, also if the recipient was known. */
export const recipientData = z.looseObject({
  recipient_code: z.string().regex(/^RCP_[0-9A-Za-z]{1,64}$/),
  currency,
  domain,
  details: z.looseObject({
    account_number: z.union([z.string(), z.int()]).transform(String),
    bank_code: z.union([z.string(), z.int()]).transform(String),
  }),
});

/** The holder of an account. */
export const accountData = z.looseObject({
  account_number: z.union([z.string(), z.int()]).transform(String),
  account_name: z.string().min(1).max(200),
});

/**
 * A bank. `code` is a string with leading zeros; the name of the NIP field is not documented. What tells whether transfers can
 * go there is read strictly, because a bank that is left out is a refusal.
 */
export const bankData = z.looseObject({
  id: optionalId,
  name: z.string().min(1).max(200),
  code: z.string().regex(/^[0-9A-Za-z-]{1,20}$/),
  type: word,
  active: z.boolean(),
  is_deleted: z.boolean().nullish().catch(null),
  supports_transfer: z.boolean().nullish().catch(null),
  nip_sort_code: z
    .string()
    .regex(/^[0-9]{6}$/)
    .nullish()
    .catch(null),
});

/** A parsed bank. */
export type BankData = z.infer<typeof bankData>;

/** Our balance in one currency. */
export const balances = z.array(z.looseObject({ currency, balance: z.int(), domain })).min(1);

/** The position of a page. `perPage` may be a string; the request's own page size may not be the one in use. */
export const pageMeta = z
  .looseObject({
    page: z.coerce.number().int().min(1).nullish().catch(null),
    pageCount: z.coerce.number().int().min(0).nullish().catch(null),
    next: z.string().min(1).max(500).nullish().catch(null),
  })
  .nullish()
  .catch(null);
