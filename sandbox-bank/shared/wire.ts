import { z } from 'zod';

/** What a call comes to: an answer, or an answer that never comes. */
export type Outcome =
  | {
      kind: 'answer';
      status: number;
      body: unknown;
      headers: Record<string, string>;
      /** The answer of what was executed at once takes its time. */
      afterMs?: number;
    }
  | { kind: 'silence' };

export const SILENCE: Outcome = { kind: 'silence' };

export function answer(status: number, body: unknown, headers: Record<string, string> = {}) {
  return { kind: 'answer' as const, status, body, headers };
}

/** Every error of the bank has this shape. The message never repeats what was sent. */
export function errorAnswer(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Outcome {
  return answer(status, { error: { code, message } }, headers);
}

export const reference = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/);
export const clientReference = z.string().min(1).max(255);
export const requestedAt = z.iso.datetime({ offset: true });
const account = z.string().regex(/^[0-9]{10}$/);
/** Three to six digits: whether there is such a bank is for name enquiry to say. */
const bankCode = z.string().regex(/^[0-9]{3,6}$/);

export const transferBody = z.strictObject({
  reference,
  client_reference: clientReference,
  amount_minor: z.int().min(1),
  currency: z.literal('NGN'),
  account,
  bank_code: bankCode,
  narration: z.string().max(100),
  requested_at: requestedAt,
});

export const enquiryBody = z.strictObject({ account, bank_code: bankCode });

export const setOutcomeBody = z.strictObject({ outcome: z.enum(['paid', 'failed']) });

export const journalQuery = z.strictObject({
  reference: z.string().optional(),
  client_reference: z.string().optional(),
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).default(Number.MAX_SAFE_INTEGER),
});
