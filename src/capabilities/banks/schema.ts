import { z } from 'zod';
import { oneOfForms } from '../../platform/http/forms.js';
import { idempotencyKey, pageQuery, plainText } from '../../platform/http/wire.js';

const account = z
  .string()
  .regex(/^[0-9]{10}$/, 'must be 10 digits')
  .meta({ description: 'NUBAN account number.', example: '0123456789' });
const bankCode = z
  .string()
  .regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits')
  .meta({ description: 'CBN or NIP code, see `GET /transfers/banks`.', example: '058' });

/** The recipient's account in a body: `recipient_*`, or the older names `destination_*`, but not both. */
export const recipientFields = {
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
    description: 'Accepted from older clients and ignored: the name comes from the bank.',
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

/** Runs the check although other fields are invalid, so that one answer lists every issue. */
const ALWAYS = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/** Requires account and bank code under either pair of names, and refuses a mixture of both. */
export const withRecipient = <Schema extends z.ZodType<RecipientFields>>(schema: Schema): Schema =>
  schema.superRefine(checkRecipient, ALWAYS);

/** The rule of `withRecipient` in the OpenAPI document. */
export const eitherRecipient = oneOfForms(
  {
    name: 'ToRecipient',
    required: RECIPIENT_NAMES,
    lacks: (name) => name.startsWith('destination_'),
  },
  {
    name: 'ToDestination',
    required: DESTINATION_NAMES,
    lacks: (name) => name.startsWith('recipient_'),
  },
);

/** Account and bank code of a validated body, under either pair of names. */
export const recipientOf = (body: RecipientFields) => ({
  account: (body.recipient_account ?? body.destination_account_number) as string,
  bankCode: (body.recipient_bank_code ?? body.destination_bank_code) as string,
});

/** The body of POST /transfers/resolve-account. */
export const resolveAccountBody = withRecipient(
  z.strictObject({ ...recipientFields, idempotency_key: idempotencyKey.optional() }),
).meta({
  id: 'AccountToResolve',
  description: 'A bank account, to find out its holder.',
  ...eitherRecipient,
});

/** The query of GET /transfers/banks. The page is long enough for all banks. */
export const listBanksQuery = z.strictObject(pageQuery(100));

/** The fields of a recipient in an answer. */
export const recipient = {
  recipient_account: z.string(),
  recipient_name: z.string().nullable().meta({
    description: 'Name of the account holder, from the bank. Null until the bank has told it.',
  }),
  recipient_bank: z.string().nullable().meta({
    description:
      'Name of the bank. Null if the bank has not told it and the list of banks has no bank with this code, or the provider has not listed its banks yet.',
  }),
  recipient_bank_code: z.string(),
};

/** The recipient in the examples of the API. */
export const exampleRecipient = {
  recipient_account: '0123456789',
  recipient_name: 'OLUWASEUN MOHAMMED',
  recipient_bank: 'Guaranty Trust Bank',
  recipient_bank_code: '058',
};

/** The holder of a bank account as clients get it. */
export const recipientResource = z.object(recipient).meta({
  id: 'Recipient',
  description: 'The holder of a bank account.',
  example: exampleRecipient,
});

/** A bank as clients get it. */
export const bankResource = z
  .object({ code: z.string(), nip_code: z.string(), name: z.string() })
  .meta({
    id: 'Bank',
    description: 'A bank that transfers reach.',
    example: { code: '058', nip_code: '000013', name: 'Guaranty Trust Bank' },
  });
