import { z } from 'zod';
import { findMetadataProblem } from '../metadata.js';

const account = z.string().regex(/^[0-9]{10}$/, 'must be 10 digits');
const bankCode = z.string().regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits');

/** Characters, not UTF-16 units; control characters and broken surrogates would not survive a bank's message. */
const narration = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be text without control characters')
  .refine((text) => [...text].length <= 100, 'must be at most 100 characters');

const metadata = z.record(z.string(), z.unknown()).superRefine((value, ctx) => {
  const problem = findMetadataProblem(value);
  if (problem) ctx.addIssue({ code: 'custom', path: problem.path, message: problem.message });
});

/** Who gets the money: `recipient_*`, or the older names `destination_*`, not both. */
const recipientFields = {
  recipient_account: account.optional(),
  recipient_bank_code: bankCode.optional(),
  destination_account_number: account.optional(),
  destination_bank_code: bankCode.optional(),
  /** Accepted for older callers; the name that counts is the bank's own. */
  destination_account_name: z.string().max(200).optional(),
};

type RecipientFields = z.infer<z.ZodObject<typeof recipientFields>>;

function checkRecipient(body: RecipientFields, ctx: z.core.$RefinementCtx): void {
  const older = Object.keys(body).find((name) => name.startsWith('destination_'));
  const newer = Object.keys(body).find((name) => name.startsWith('recipient_'));
  if (older && newer) {
    const message = 'recipient_* and destination_* fields can not be mixed';
    ctx.addIssue({ code: 'custom', path: [older], message });
    return;
  }
  const needed = older
    ? (['destination_account_number', 'destination_bank_code'] as const)
    : (['recipient_account', 'recipient_bank_code'] as const);
  for (const name of needed) {
    if (body[name] === undefined)
      ctx.addIssue({ code: 'custom', path: [name], message: 'is required' });
  }
}

/** The account that a checked body names, under whichever names. */
export const recipientOf = (body: RecipientFields) => ({
  account: (body.recipient_account ?? body.destination_account_number) as string,
  bankCode: (body.recipient_bank_code ?? body.destination_bank_code) as string,
});

const transferFields = {
  amount_minor: z.int().min(1),
  ...recipientFields,
  narration,
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters without spaces')
    .optional(),
  currency: z.literal('NGN').default('NGN'),
  metadata: metadata.optional(),
};

/** The body of POST /transfers as it is sent. */
export const createTransferBody = z
  .strictObject({ ...transferFields, idempotency_key: z.string().optional() })
  .superRefine(checkRecipient);

/** An item of POST /transfers/bulk: as for a single transfer, but the key belongs to the batch. */
export const bulkItemBody = z.strictObject(transferFields).superRefine(checkRecipient);

export type TransferBody = z.infer<typeof bulkItemBody>;

const MAX_BULK_ITEMS = 1_000;

/** The body of POST /transfers/bulk. Items are read one by one: a bad one is refused alone. */
export const bulkTransfersBody = z.strictObject({
  transfers: z.array(z.unknown()).min(1).max(MAX_BULK_ITEMS),
  idempotency_key: z.string().optional(),
});

/** The body of POST /transfers/resolve-account. */
export const resolveAccountBody = z.strictObject(recipientFields).superRefine(checkRecipient);

export type CreateTransferBody = z.infer<typeof createTransferBody>;

export type ListTransfersQuery = z.infer<typeof listTransfersQuery>;

const date = z.iso.date();
const count = (fallback: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(maximum))
    .default(fallback);

/** The query of GET /transfers. Dates are UTC days, both inclusive. */
export const listTransfersQuery = z
  .strictObject({
    page: count(1, 1_000_000),
    limit: count(20, 100),
    status: z.enum(['pending', 'processing', 'completed', 'failed', 'successful']).optional(),
    start_date: date.optional(),
    end_date: date.optional(),
    reference: z.string().min(1).max(100).optional(),
    sort: z
      .enum(['created_at', '-created_at', 'amount_minor', '-amount_minor'])
      .default('-created_at'),
  })
  .refine((query) => !query.start_date || !query.end_date || query.start_date <= query.end_date, {
    path: ['end_date'],
    message: 'must not be before start_date',
  });

/** The query of lists that are short as a rule: all of it comes in one page unless less is asked for. */
export const shortListQuery = z.strictObject({ page: count(1, 1_000_000), limit: count(100, 100) });
