import { z } from 'zod';
import { attentionField, failureField } from '../../core/instructions/api-fields.js';
import {
  amountMinor,
  daysQuery,
  idempotencyKey,
  MAX_AMOUNT_MINOR,
  pageOrOffsetQuery,
  plainText,
  timestamp,
  withDaysInOrder,
  ownName,
} from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { metadata } from '../../shared/metadata.js';
import { customerId, knownCustomerId } from '../customers/index.js';
import { ALWAYS } from '../payment-tokens/index.js';
import { ACCOUNT_STATES } from './record.js';

const holder = z
  .strictObject({
    id: customerId,
    email: z.email().max(254).optional().meta({ example: 'ada@example.com' }),
    name: plainText(100).optional().meta({ example: 'Ada Obi' }),
    phone: z
      .string()
      .regex(/^\+?[0-9]{7,15}$/, 'must be a phone number of 7 to 15 digits')
      .optional()
      .meta({ example: '+2348012345678' }),
  })
  .meta({ id: 'AccountHolder', description: 'The customer who holds the account.' });

const fields = {
  customer: holder.optional(),
  customer_id: customerId.optional().meta({
    description:
      'The customer’s id, in place of `customer`. Its name and e-mail are those of earlier requests.',
    example: 'customer-77',
  }),
  account_name: plainText(100)
    .optional()
    .meta({ description: 'The wished name of the account.', example: 'Ada Obi' }),
  bank_code: z
    .string()
    .regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits')
    .optional()
    .meta({ description: 'The wished bank; the provider’s choice without it.', example: '035' }),
  currency: z.literal('NGN').default('NGN'),
  reference: ownName(
    'Your own name of the account, unique for ever. The default is its id.',
    'shop-42',
  ).optional(),
  expected_amount_minor: z.int().min(1).max(MAX_AMOUNT_MINOR).optional().meta({
    description: 'The amount in kobo that each deposit is expected to have.',
    example: 500_000,
  }),
  on_mismatch: z.enum(['accept', 'return']).default('accept').meta({
    description:
      'The treatment of a deposit of another amount than expected: it is credited, or sent back. `return` needs `expected_amount_minor`.',
  }),
  metadata: metadata.optional(),
  idempotency_key: idempotencyKey.optional(),
};

/** Without an expected amount every amount is credited, so `return` would never have an effect. */
function checkMismatch(
  body: { on_mismatch?: string; expected_amount_minor?: number | undefined },
  ctx: z.core.$RefinementCtx,
): void {
  if (body.on_mismatch !== 'return' || 'expected_amount_minor' in body) return;
  const message = 'needs expected_amount_minor';
  ctx.addIssue({ code: 'custom', path: ['on_mismatch'], message });
}

/** The body of POST /virtual-accounts. */
export const createVirtualAccountBody = z
  .strictObject(fields)
  .superRefine(checkMismatch, ALWAYS)
  .superRefine((body, ctx) => {
    const names = (['customer', 'customer_id'] as const).filter((name) => name in body);
    if (names.length === 1) return;
    const message =
      names.length === 0 ? 'This field is required.' : 'must be left out where customer is given';
    ctx.addIssue({
      code: 'custom',
      path: ['customer_id'],
      message,
    });
  }, ALWAYS)
  .meta({
    id: 'NewVirtualAccount',
    description: 'A request for a virtual account of a customer.',
    override: ({ jsonSchema }: { jsonSchema: object }) => {
      Object.assign(jsonSchema, {
        oneOf: [{ required: ['customer'] }, { required: ['customer_id'] }],
      });
    },
  });

/** The validated body of POST /virtual-accounts. */
export type CreateVirtualAccountBody = z.infer<typeof createVirtualAccountBody>;

type Position = {
  page?: number | undefined;
  offset?: number | undefined;
  start_date?: string | undefined;
  end_date?: string | undefined;
};

function checkPosition({ page, offset }: Position, ctx: z.core.$RefinementCtx): void {
  if (page === undefined || offset === undefined) return;
  const message = 'must be left out where page is given';
  ctx.addIssue({ code: 'custom', path: ['offset'], message });
}

/** Adds the rules for `page` with `offset`, and for `start_date` and `end_date`, to a query. */
export const withPageOrOffset = <Query extends z.ZodType<Position>>(query: Query): Query =>
  withDaysInOrder(query.superRefine(checkPosition));

/** The query of GET /virtual-accounts. */
export const listVirtualAccountsQuery = withPageOrOffset(
  z.strictObject({
    ...pageOrOffsetQuery(),
    status: z.enum(ACCOUNT_STATES).optional(),
    customer_id: knownCustomerId.optional(),
    account_number: z.string().min(1).max(34).optional(),
    ...daysQuery('acceptance'),
    sort: z
      .enum([
        'created_at',
        '-created_at',
        'account_number',
        '-account_number',
        'total_received_minor',
        '-total_received_minor',
      ])
      .default('-created_at')
      .meta({ description: 'A minus sorts in descending order.' }),
  }),
);

/** The validated query of GET /virtual-accounts. */
export type ListVirtualAccountsQuery = z.infer<typeof listVirtualAccountsQuery>;

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleVirtualAccount = {
  id: 'va_01kaj2v6wte8v9kcz0t3yd4m5n',
  customer_id: 'customer-77',
  account_number: '9900000042',
  account_name: 'Ada Obi',
  bank_name: 'Wema Bank',
  bank_code: '035',
  currency: 'NGN' as const,
  status: 'active' as const,
  total_received_minor: 500_000,
  expected_amount_minor: null,
  on_mismatch: 'accept' as const,
  reference: 'shop-42',
  metadata: { shop: '42' },
  provider: 'sandbox-bank',
  failure: null,
  attention: null,
  created_at: '2026-11-21T09:30:00.000Z',
  closed_at: null,
};

/** A virtual account, as tenants get it. */
export const virtualAccountResource = z
  .object({
    id: idSchema('virtualAccount'),
    customer_id: z.string().meta({ description: 'Your own id of the customer.' }),
    account_number: z
      .string()
      .nullable()
      .meta({ description: 'Null until the provider has assigned the account.' }),
    account_name: z.string(),
    bank_name: z
      .string()
      .nullable()
      .meta({ description: 'Null until the provider has assigned the account.' }),
    bank_code: z.string().nullable().meta({
      description: 'The wished one, if the provider tells none; null if none was wished either.',
    }),
    currency: z.literal('NGN'),
    status: z.enum(ACCOUNT_STATES),
    total_received_minor: amountMinor('Sum in kobo of the deposits that were credited.'),
    expected_amount_minor: amountMinor(
      'Amount in kobo that each deposit is expected to have.',
    ).nullable(),
    on_mismatch: z.enum(['accept', 'return']),
    reference: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    provider: z.string(),
    failure: failureField,
    attention: attentionField,
    created_at: timestamp('When the account was accepted.'),
    closed_at: timestamp('When the account was closed at the provider.').nullable(),
  })
  .meta({
    id: 'VirtualAccount',
    description: 'A bank account that receives money for one of your customers.',
    example: exampleVirtualAccount,
  });
