import { z } from 'zod';
import { idempotencyKey, pageQuery, plainText } from '../../platform/http/wire.js';
import { metadata } from '../../shared/metadata.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { BELOW_MINIMUM } from '../../platform/tenants/tenant.js';

const account = z
  .string()
  .regex(/^[0-9]{10}$/, 'must be 10 digits')
  .meta({ description: 'NUBAN account number.', example: '0123456789' });
const bankCode = z
  .string()
  .regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits')
  .meta({ description: 'CBN or NIP code, see `GET /transfers/banks`.', example: '058' });

/** Who gets the money: `recipient_*`, or the older names `destination_*`, not both. */
const recipientFields = {
  recipient_account: account.optional(),
  recipient_bank_code: bankCode.optional(),
  destination_account_number: account
    .optional()
    .meta({ deprecated: true, description: 'Older name of `recipient_account`.' }),
  destination_bank_code: bankCode
    .optional()
    .meta({ deprecated: true, description: 'Older name of `recipient_bank_code`.' }),
  destination_account_name: plainText(200).optional().meta({
    deprecated: true,
    description: 'Taken from older callers; the name that counts is the bank’s own.',
  }),
};

type RecipientFields = z.infer<z.ZodObject<typeof recipientFields>>;

const RECIPIENT_NAMES = ['recipient_account', 'recipient_bank_code'] as const;
const DESTINATION_NAMES = ['destination_account_number', 'destination_bank_code'] as const;

function checkRecipient(body: RecipientFields, ctx: z.core.$RefinementCtx): void {
  const older = Object.keys(body).find((name) => name.startsWith('destination_'));
  const newer = Object.keys(body).find((name) => name.startsWith('recipient_'));
  if (older && newer) {
    const message = 'must be left out where a recipient_* field is given';
    ctx.addIssue({ code: 'custom', path: [older], message });
    return;
  }
  for (const name of older ? DESTINATION_NAMES : RECIPIENT_NAMES) {
    if (body[name] === undefined)
      ctx.addIssue({ code: 'custom', path: [name], message: 'This field is required.' });
  }
}

/** Also where other fields are wrong: every issue is listed. */
const ALWAYS = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/** What `checkRecipient` says, for the document. */
const eitherRecipient = {
  override: ({ jsonSchema }: { jsonSchema: object }) => {
    const none = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, false]));
    Object.assign(jsonSchema, {
      oneOf: [
        {
          required: RECIPIENT_NAMES,
          properties: none([...DESTINATION_NAMES, 'destination_account_name']),
        },
        { required: DESTINATION_NAMES, properties: none(RECIPIENT_NAMES) },
      ],
    });
  },
};

/** The account that a checked body names, under whichever names. */
export const recipientOf = (body: RecipientFields) => ({
  account: (body.recipient_account ?? body.destination_account_number) as string,
  bankCode: (body.recipient_bank_code ?? body.destination_bank_code) as string,
});

const transferFields = {
  amount_minor: z
    .int()
    .min(1, BELOW_MINIMUM)
    .meta({
      description: 'Kobo. These are the bounds of a tenant that has not agreed on others.',
      example: 250_000,
      override: { minimum: 100, maximum: 500_000_000 },
    }),
  ...recipientFields,
  narration: plainText(100).meta({ description: 'What it is for.', example: 'Invoice 1042' }),
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,100}$/, textErrors(100, PRINTABLE))
    .optional()
    .meta({
      description: 'Your own name for it, unique for ever; the id if you give none.',
      example: 'invoice-1042',
    }),
  currency: z.literal('NGN').default('NGN'),
  metadata: metadata.optional(),
};

/** The body of POST /transfers as it is sent. */
export const createTransferBody = z
  .strictObject({ ...transferFields, idempotency_key: idempotencyKey.optional() })
  .superRefine(checkRecipient, ALWAYS)
  .meta({ id: 'NewTransfer', ...eitherRecipient });

/** An item of POST /transfers/bulk: as for a single transfer, but the key belongs to the batch. */
export const bulkItemBody = z.strictObject(transferFields).superRefine(checkRecipient, ALWAYS);

export type TransferBody = z.infer<typeof bulkItemBody>;

const MAX_BULK_ITEMS = 1_000;

/** A body to go by, which is what clients are shown (`x-ref`), and whatever else is refused alone. */
const bulkItem = z.unknown().meta({
  override: {
    'x-ref': '#/components/schemas/NewTransfer',
    anyOf: [{ $ref: '#/components/schemas/NewTransfer' }, { $ref: '#/components/schemas/Json' }],
  },
});

/** The body of POST /transfers/bulk. Items are read one by one: a bad one is refused alone. */
export const bulkTransfersBody = z
  .strictObject({
    transfers: z.array(bulkItem).min(1).max(MAX_BULK_ITEMS).meta({
      description:
        'Bodies of `POST /transfers`, without a key of their own. A bad one is refused alone, in the answer.',
    }),
    idempotency_key: idempotencyKey.optional(),
  })
  .meta({ id: 'NewBulkTransfer' });

/** The body of POST /transfers/resolve-account. */
export const resolveAccountBody = z
  .strictObject(recipientFields)
  .superRefine(checkRecipient, ALWAYS)
  .meta({ id: 'AccountToResolve', ...eitherRecipient });

export type CreateTransferBody = z.infer<typeof createTransferBody>;

export type ListTransfersQuery = z.infer<typeof listTransfersQuery>;

const day = (description: string) =>
  z.iso
    .date()
    .optional()
    .meta({ description, override: { pattern: undefined } });

/** The query of GET /transfers. Dates are UTC days, both inclusive. */
export const listTransfersQuery = z
  .strictObject({
    ...pageQuery(),
    status: z
      .enum(['pending', 'processing', 'completed', 'failed', 'successful'])
      .optional()
      .meta({ description: '`successful` is `completed`.' }),
    start_date: day('First day of acceptance, UTC.'),
    end_date: day('Last day of acceptance, UTC; not before `start_date`.'),
    reference: z.string().min(1).max(100).optional(),
    sort: z
      .enum(['created_at', '-created_at', 'amount_minor', '-amount_minor'])
      .default('-created_at')
      .meta({ description: 'A minus is for descending order.' }),
  })
  .refine((query) => !query.start_date || !query.end_date || query.start_date <= query.end_date, {
    path: ['end_date'],
    message: 'must not be before start_date',
  });

/** The query of lists that are short as a rule: all of it comes in one page unless less is asked for. */
export const shortListQuery = z.strictObject(pageQuery(100));
