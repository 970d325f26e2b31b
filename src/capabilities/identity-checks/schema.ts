import { z } from 'zod';
import { idempotencyKey, pageQuery, plainText, timestamp } from '../../platform/http/wire.js';
import { invalidFields } from '../../platform/http/validate.js';
import { idSchema } from '../../shared/ids.js';
import { attentionField, failureField } from '../../core/instructions/api-fields.js';
import {
  CHECK_TYPES,
  type CheckSubject,
  type CheckType,
} from '../../core/providers/identity-provider.js';
import { CHECK_STATUSES } from '../customers/record.js';

const elevenDigits = z.string().regex(/^[0-9]{11}$/, 'must be 11 digits');

/** The body of a request to verify a customer, for every type of check. `readSubject` has the rules of each type. */
export const verifyCustomerBody = z
  .strictObject({
    number: elevenDigits.optional().meta({
      description: 'The BVN or the NIN. Required for `bvn` and `nin`, and for them alone.',
      example: '22212345678',
    }),
    account_number: z
      .string()
      .regex(/^[0-9]{10}$/, 'must be 10 digits')
      .optional()
      .meta({
        description: 'NUBAN account number. Required for `bank_account`, and for it alone.',
      }),
    bank_code: z
      .string()
      .regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits')
      .optional()
      .meta({ description: 'Required for `bank_account`, see `GET /transfers/banks`.' }),
    bvn: elevenDigits.optional().meta({
      description: 'For `bank_account` alone: the BVN that the account must belong to.',
    }),
    first_name: plainText(100).meta({ example: 'Ada' }),
    last_name: plainText(100).meta({ example: 'Obi' }),
    date_of_birth: z.iso
      .date()
      .optional()
      .meta({ description: 'For `bvn` and `nin` alone.', override: { pattern: undefined } }),
    idempotency_key: idempotencyKey.optional(),
  })
  .meta({ id: 'NewIdentityCheck', description: 'The data of a customer for an identity check.' });

/** The validated body of a request to verify a customer. */
export type VerifyCustomerBody = z.infer<typeof verifyCustomerBody>;

const FIELDS_OF = {
  number: { required: ['number'], refused: ['account_number', 'bank_code', 'bvn'] },
  account: { required: ['account_number', 'bank_code'], refused: ['number', 'date_of_birth'] },
} as const;

/** Reads the subject of a check from a body. Throws a `validation_error` if the fields are not those of its type. */
export function readSubject(type: CheckType, body: VerifyCustomerBody): CheckSubject {
  const { required, refused } = FIELDS_OF[type === 'bank_account' ? 'account' : 'number'];
  const missing = required
    .filter((field) => body[field] === undefined)
    .map((field) => ({ field, code: 'invalid_type', message: 'is required' }));
  const extra = refused
    .filter((field) => body[field] !== undefined)
    .map((field) => ({ field, code: 'unknown_field', message: `is not a field of ${type}` }));
  const issues = [...missing, ...extra];
  if (issues.length > 0) throw invalidFields(issues);
  const { first_name: firstName, last_name: lastName } = body;
  const person = { firstName, lastName, dateOfBirth: body.date_of_birth ?? null };
  if (body.number !== undefined) return { ...person, number: body.number };
  const { account_number: accountNumber = '', bank_code: bankCode = '', bvn = null } = body;
  return { ...person, accountNumber, bankCode, bvn };
}

/** The digits of a text, also if signs stand between them. */
const digitsOf = (text: string) => text.normalize('NFKC').replaceAll(/[^0-9]/g, '');

/**
 * Refuses a check whose number is also in a text that is stored in clear. `texts` are by the name of their field; an undefined one
 * was not sent. The id of a customer may be the account number, which is a phone number at some banks. Throws a `validation_error`
 * that names every such field.
 */
export function refuseInClear(
  texts: Readonly<Record<string, string | undefined>>,
  { number, bvn, account_number: account }: VerifyCustomerBody,
): void {
  const numbersFor = (field: string) =>
    [number, bvn, field === 'customer_id' ? undefined : account].filter(
      (each) => each !== undefined,
    );
  const message = 'must not have the number of the check: it is stored in clear';
  const issues = Object.entries(texts)
    .filter(
      ([field, text]) => text && numbersFor(field).some((each) => digitsOf(text).includes(each)),
    )
    .map(([field]) => ({ field, code: 'custom', message }));
  if (issues.length > 0) throw invalidFields(issues);
}

/** The query of the list of a customer's checks. */
export const listChecksQuery = z.strictObject(pageQuery());

/** The check in the examples of the API reference. */
export const exampleCheck = {
  id: 'kyc_01kaj2v6wte8v9kcz0t3yd4m5n',
  customer_id: 'customer-77',
  check_type: 'bvn',
  status: 'verified',
  last4: '5678',
  failure: null,
  provider: 'sandbox-bank',
  attention: null,
  created_at: '2026-11-21T09:30:00.000Z',
  completed_at: '2026-11-21T09:30:01.000Z',
};

/** An identity check, as tenants get it. */
export const checkResource = z
  .object({
    id: idSchema('identityCheck'),
    customer_id: z.string().meta({ description: 'Your own id of the customer.' }),
    check_type: z.enum(CHECK_TYPES),
    status: z.enum(CHECK_STATUSES).meta({
      description:
        '`rejected`: the data do not match. `failed`: they could not be checked. A provider that does not answer rejects nothing: the check stays `pending`.',
    }),
    last4: z.string().meta({ description: 'The last digits of the number, which is not kept.' }),
    failure: failureField,
    provider: z.string(),
    attention: attentionField,
    created_at: timestamp('When the check was accepted.'),
    completed_at: timestamp('When the check ended; null until then.').nullable(),
  })
  .meta({
    id: 'IdentityCheck',
    description: 'The check of a customer’s identity, and its result.',
    example: exampleCheck,
  });
