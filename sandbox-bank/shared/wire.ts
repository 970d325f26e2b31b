import { z } from 'zod';

/** The result of a call: an answer, or silence, where no answer is ever sent. */
export type Outcome =
  | {
      kind: 'answer';
      status: number;
      body: unknown;
      headers: Record<string, string>;
      /** Delay of the answer to a request that was executed at once. */
      afterMs?: number;
      /** For a fault: the first half of the body and nothing more, or the body after a pause. */
      sends?: 'half' | { bodyAfterMs: number };
    }
  | { kind: 'silence' };

/** The result of a call that is never answered. */
export const SILENCE: Outcome = { kind: 'silence' };

/** Makes an answer with a JSON or text body. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}) {
  return { kind: 'answer' as const, status, body, headers };
}

/** Makes an error answer. Every error of the bank has this shape; its message never repeats input. */
export function errorAnswer(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Outcome {
  return answer(status, { error: { code, message } }, headers);
}

/** A client's reference of a request. */
export const reference = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/);
/** The client's reference of its own record. */
export const clientReference = z.string().min(1).max(255);
/** The time of the request by the client's clock. */
export const requestedAt = z.iso.datetime({ offset: true });
const account = z.string().regex(/^[0-9]{10}$/);
/** Three to six digits; name enquiry checks whether the bank exists. */
const bankCode = z.string().regex(/^[0-9]{3,6}$/);

/** The body of a request for a transfer. */
export const transferBody = z.strictObject({
  reference,
  client_reference: clientReference,
  amount_minor: z.int().min(1),
  currency: z.literal('NGN'),
  account,
  bank_code: bankCode,
  recipient: z.string().max(100).optional(),
  narration: z.string().max(100),
  requested_at: requestedAt,
});

/** The body of a name enquiry. */
export const enquiryBody = z.strictObject({ account, bank_code: bankCode });

/** The body of the control that decides a transfer. */
export const setOutcomeBody = z.strictObject({
  outcome: z.enum(['paid', 'failed']),
  /** The amount that is paid, in place of the ordered one. */
  amount_minor: z.int().min(1).optional(),
});

/** The body of the control that sets the client's balance; null is a balance without end. */
export const floatBody = z.strictObject({ amount_minor: z.int().min(0).nullable() });

/** The query of a list of transfers. */
export const listQuery = z.strictObject({
  from: z.iso.datetime({ offset: true }),
  to: z.iso.datetime({ offset: true }),
  cursor: z.coerce.number().int().min(0).optional(),
});

/** The query of the journal. */
export const journalQuery = z.strictObject({
  reference: z.string().optional(),
  client_reference: z.string().optional(),
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).default(Number.MAX_SAFE_INTEGER),
});
