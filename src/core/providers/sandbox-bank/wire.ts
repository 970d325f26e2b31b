import { z } from 'zod';
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
  status: z.enum(['pending', 'paid', 'refused', 'reversed']),
  amount_minor: amount,
  currency: z.literal('NGN'),
  session_id: sessionId,
  code,
});

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

/** The envelope of the bank's messages. */
export const eventBody = z.object({
  id: z.string().min(1).max(200),
  event: z.string(),
  occurred_at: z.iso.datetime({ offset: true }),
  data: z.unknown(),
});

/** Events that nothing follows from at any port. */
export const IRRELEVANT_EVENTS: ReadonlySet<string> = new Set(['bank.notice']);

/** The event's name in a message that cannot be read otherwise. */
export function nameOf(body: unknown): string | null {
  const parsed = z.object({ event: z.string() }).safeParse(body);
  return parsed.success ? parsed.data.event : null;
}

/** The data of a message about a transfer. */
export const transferData = z.object({
  reference: z.string().min(1).max(200),
  amount_minor: amount,
  currency: z.literal('NGN'),
  session_id: sessionId,
  code,
});

/** The bank's refusal codes, mapped to ours. Any other code becomes `provider_declined`. */
const REFUSALS = new Map([
  ['account_closed', 'account_closed'],
  ['no_such_account', 'invalid_account'],
]);

type Payment = {
  amount_minor: bigint;
  session_id?: string | null | undefined;
  code?: string | null | undefined;
};

/** Converts the bank's status of a transfer. */
export function paymentState(
  status: 'pending' | 'paid' | 'refused' | 'reversed',
  payment: Payment,
): PaymentState {
  if (status === 'pending') return { kind: 'pending' };
  if (status === 'refused') {
    return { kind: 'rejected', code: REFUSALS.get(payment.code ?? '') ?? 'provider_declined' };
  }
  const kind = status === 'paid' ? 'succeeded' : status;
  return { kind, amountMinor: payment.amount_minor, sessionId: payment.session_id ?? null };
}
