import { z } from 'zod';
import type { Unknown } from '../port.js';
import type { PaymentState } from '../transfer-provider.js';

/** An amount in minor units, as a bigint. */
export const amount = z
  .int()
  .min(0)
  .transform((value) => BigInt(value));
/** An amount that may be negative, such as that of a correction. */
export const signedAmount = z.int().transform((value) => BigInt(value));
/** Clients, timelines and workflow histories get the session id, so it must be an identifier and no free text. */
const sessionId = z
  .string()
  .regex(/^[0-9A-Za-z-]{1,64}$/)
  .nullish();
/** A code of the bank's. */
export const code = z.string().max(100).nullish();

/** The bank's answer about a transfer. */
export const transferAnswer = z.object({
  reference: z.string(),
  status: z.string().max(100),
  amount_minor: amount,
  fee_minor: amount.nullish(),
  currency: z.string(),
  session_id: sessionId,
  code,
});

/** The bank's answer about a cancelled reference. */
export const cancelAnswer = z.object({ reference: z.string(), status: z.literal('cancelled') });

/** A page of the bank's transfers. */
export const transfersAnswer = z.object({
  transfers: z.array(transferAnswer),
  next: z.int().nullable(),
});

/** The bank's answer about our balance. */
export const balanceAnswer = z.object({ available_minor: amount, currency: z.string() });

/** A page of the movements of our balance. */
export const ledgerAnswer = z.object({
  entries: z.array(
    z.object({
      seq: z.int().min(1),
      reference: z.string().min(1).max(200),
      amount_minor: z.int().transform(BigInt),
      balance_minor: z.int().transform(BigInt),
      at: z.iso.datetime(),
    }),
  ),
  next: z.int().nullable(),
});

/** The bank's answer about a prepared recipient. */
export const recipientAnswer = z.object({ recipient: z.string().regex(/^[0-9A-Za-z_]{1,64}$/) });

/** The bank's answer to a name enquiry. */
export const enquiryAnswer = z.object({
  account_name: z.string().min(1).max(200),
  bank_name: z.string().min(1).max(200),
});

/** The bank's list of banks. */
export const banksAnswer = z.object({
  banks: z
    .array(
      z.object({
        name: z.string().min(1).max(200),
        code: z.string().regex(/^[0-9]{3,6}$/),
        nip_code: z.string().regex(/^[0-9]{6}$/),
      }),
    )
    .min(1),
});

/** The bank's error body. */
export const errorAnswer = z.object({ error: z.object({ code: z.string() }) });

/** The data of a message about a transfer. */
export const transferData = z.object({
  reference: z.string().min(1).max(200),
  amount_minor: amount,
  currency: z.literal('NGN'),
  session_id: sessionId,
  code,
});

/** The bank's refusal codes, mapped to ours. Any other code becomes `provider_declined`. */
export const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['account_closed', 'account_closed'],
  ['not_confirmed', 'not_confirmed'],
  ['no_such_account', 'invalid_account'],
]);

type Payment = {
  amount_minor: bigint;
  fee_minor?: bigint | null | undefined;
  session_id?: string | null | undefined;
  code?: string | null | undefined;
};

/** Converts the bank's status of a transfer. Any other word than its own says nothing about the money. */
export function paymentState(
  status: string,
  payment: Payment,
): (PaymentState & { fault?: 'otp_required' }) | Unknown {
  const { amount_minor: amountMinor, fee_minor: feeMinor = null } = payment;
  const sessionId = payment.session_id ?? null;
  switch (status) {
    case 'pending':
      return { kind: 'pending' };
    case 'otp':
      return { kind: 'pending', awaits: 'operator', fault: 'otp_required' };
    case 'refused':
      return { kind: 'rejected', code: REFUSALS.get(payment.code ?? '') ?? 'provider_declined' };
    case 'paid':
      return { kind: 'succeeded', amountMinor, sessionId, ...(feeMinor !== null && { feeMinor }) };
    case 'reversed':
      return { kind: 'reversed', amountMinor, sessionId };
    default:
      return { kind: 'unknown', reason: 'unrecognized', word: status };
  }
}
