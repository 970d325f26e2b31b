import { z } from 'zod';
import { oneOfForms } from '../../platform/http/forms.js';
import {
  idempotencyKey,
  MAX_AMOUNT_MINOR,
  plainText,
  amountMinor,
  timestamp,
  ownName,
} from '../../platform/http/wire.js';
import {
  FIELD_NAME,
  findMetadataProblem,
  MAX_KEYS,
  metadata,
  METADATA_BOUNDS,
} from '../../shared/metadata.js';
import { idSchema } from '../../shared/ids.js';
import {
  attentionField,
  failureField,
  instructionStatus,
} from '../../core/instructions/api-fields.js';
import { SHOWN_TYPES } from './card-operation.js';

/**
 * A body that accepts unknown fields. Known fields are validated; the output's `metadata` holds the unknown fields and the
 * content of the field `metadata`, or is null if there are none.
 */
export function freeForm<Known extends z.ZodRawShape>(id: string, known: Known) {
  const fields = {
    ...known,
    metadata: metadata.optional(),
    idempotency_key: idempotencyKey.optional(),
  };
  const restOf = (body: Record<string, unknown>): Record<string, unknown> => {
    const rest = Object.entries(body).filter(([name]) => !Object.hasOwn(fields, name));
    return { ...Object.fromEntries(rest), ...(body['metadata'] as object | undefined) };
  };
  return z
    .object(fields)
    .catchall(z.unknown())
    .superRefine((body, ctx) => {
      const problem = findMetadataProblem(restOf(body));
      if (problem) ctx.addIssue({ code: 'custom', path: problem.path, message: problem.message });
    })
    .meta({
      id,
      description: `Other fields than these are stored as metadata, with the fields of \`metadata\`. ${METADATA_BOUNDS}`,
      override: {
        propertyNames: FIELD_NAME,
        maxProperties: Object.keys(fields).length + MAX_KEYS,
        additionalProperties: { $ref: '#/components/schemas/MetadataLevel4' },
      },
    })
    .transform((body) => {
      const rest = restOf(body);
      const given = body as z.output<z.ZodObject<Known>>;
      return { ...given, metadata: Object.keys(rest).length > 0 ? rest : null };
    });
}

const limit = (description: string) =>
  z.int().min(1).max(MAX_AMOUNT_MINOR).nullable().meta({ description });

const codes = (pattern: RegExp, message: string, maximum: number) =>
  z
    .array(z.string().regex(pattern, message))
    .max(maximum)
    .refine((list) => new Set(list).size === list.length, 'must not name anything twice')
    .meta({ uniqueItems: true });

const settings = {
  per_transaction_limit_minor: limit('Highest amount in kobo of one payment; null: no limit.'),
  daily_limit_minor: limit(
    'Highest sum in kobo of the approved payments of one day in Africa/Lagos; null: no limit.',
  ),
  allowed_countries: codes(/^[A-Z]{2}$/, 'must be two capital letters (ISO 3166)', 250).meta({
    description: 'Countries (ISO 3166) whose merchants may be paid; empty: all.',
  }),
  blocked_merchant_categories: codes(/^[0-9]{4}$/, 'must be four digits (ISO 18245)', 1_000).meta({
    description: 'Merchant categories (ISO 18245) that are declined; empty: none.',
  }),
};
const channels = {
  online: z.boolean(),
  pos: z.boolean(),
  atm: z.boolean(),
  contactless: z.boolean(),
};

/** The card in the examples of the API reference. */
export const EXAMPLE_CARD = 'crd_01kaj2v6wte8v9kcz0t3yd4m5n';

/** The security settings in the examples of the API reference. */
export const exampleSecurity = {
  channels: { online: true, pos: true, atm: false, contactless: true },
  per_transaction_limit_minor: 5_000_000,
  daily_limit_minor: 20_000_000,
  allowed_countries: ['NG', 'GH'],
  blocked_merchant_categories: ['7995'],
};

/** The body of `PUT /cards/{id}/security`. Every field is required, so that a forgotten limit does not open the card. */
export const cardSecurityBody = z
  .strictObject({ channels: z.strictObject(channels), ...settings })
  .meta({
    id: 'NewCardSecurity',
    description: 'The security settings that replace all present ones.',
  });

/** The security settings of a card in answers. */
export const cardSecurityResource = z
  .object({ card_id: idSchema('card'), channels: z.object(channels), ...settings })
  .meta({
    id: 'CardSecurity',
    description: 'The security settings of a card.',
    example: { card_id: EXAMPLE_CARD, ...exampleSecurity },
  });

/** Fundings have no minimum of the tenant, because a card payment may be of any amount. */
export const LEAST_FUNDING_MINOR = 1n;

/** The amount of a funding in a request. */
export const fundingAmount = z
  .int()
  .min(Number(LEAST_FUNDING_MINOR))
  .meta({
    description: 'Amount in kobo. The maximum is the default; your account may have another.',
    example: 500_000,
    override: { minimum: Number(LEAST_FUNDING_MINOR), maximum: 500_000_000 },
  });

const SETTINGS = ['threshold_minor', 'amount_minor', 'daily_cap_minor'] as const;

const isSetting = (name: string) => SETTINGS.some((setting) => setting === name);
/** Generators of clients ignore `not`, and some make code of `const: false` that does not compile. */
const OFF = { type: 'boolean', not: { const: true }, description: 'False: no reload starts.' };

const minor = (description: string, example: number) =>
  z.int().min(1).max(MAX_AMOUNT_MINOR).meta({ description, example });

/**
 * The body of `PUT /cards/{card_id}/auto-reload`. It replaces all settings. `{ enabled: false }` alone switches it off and
 * keeps the others.
 */
export const autoReloadBody = z
  .strictObject({
    enabled: z.boolean(),
    threshold_minor: minor(
      'Threshold in kobo. A payment that leaves a lower balance starts a reload.',
      100_000,
    ).optional(),
    amount_minor: fundingAmount.optional(),
    daily_cap_minor: minor(
      'Highest sum in kobo of the reloads of one day in Africa/Lagos. At least `amount_minor`.',
      2_000_000,
    ).optional(),
  })
  .superRefine((body, ctx) => {
    const given = SETTINGS.filter((name) => body[name] !== undefined);
    const isOffAlone = !body.enabled && given.length === 0;
    const missing = isOffAlone ? [] : SETTINGS.filter((name) => body[name] === undefined);
    for (const name of missing) {
      ctx.addIssue({ code: 'custom', path: [name], message: 'is required' });
    }
    if (Number(body.daily_cap_minor) < Number(body.amount_minor)) {
      const message = 'must be at least amount_minor';
      ctx.addIssue({ code: 'custom', path: ['daily_cap_minor'], message });
    }
  })
  .meta({
    id: 'CardAutoReloadSettings',
    description:
      'All four fields, or `{"enabled": false}` alone, which keeps the other settings for later.',
    ...oneOfForms(
      { name: 'Whole', required: SETTINGS, lacks: () => false },
      { name: 'Off', required: [], lacks: isSetting, narrowed: { enabled: OFF } },
    ),
  });

/** The validated body of `PUT /cards/{card_id}/auto-reload`. */
export type AutoReloadBody = z.output<typeof autoReloadBody>;

/** The settings in the examples of the API reference. */
export const exampleSettings = {
  enabled: true,
  threshold_minor: 100_000,
  amount_minor: 500_000,
  daily_cap_minor: 2_000_000,
};

/** The body of `POST /cards`. */
export const createCardBody = z
  .strictObject({
    customer_id: ownName('Your own id of the cardholder.', 'customer-7'),
    type: z.enum(['virtual', 'physical']),
    funding: z.enum(['prepaid', 'jit']).default('prepaid').meta({
      description:
        '`prepaid`: payments spend the balance of the card. `jit`: a payment that the balance of the card does not cover is held in the wallet, in full.',
    }),
    currency: z.literal('NGN').default('NGN'),
    name: plainText(100)
      .optional()
      .meta({ description: 'The name to print on the card.', example: 'Ada Obi' }),
    security: cardSecurityBody.optional().meta({
      description:
        'The security settings of the card, in force from its first payment. By default it has no limits.',
    }),
    auto_reload: autoReloadBody.optional().meta({
      description: 'The auto-reload settings of a prepaid card, in force from its issuance.',
    }),
    metadata: metadata.optional(),
    idempotency_key: idempotencyKey.optional(),
  })
  .refine(({ funding, auto_reload: reload }) => funding === 'prepaid' || !reload, {
    path: ['auto_reload'],
    message: 'only a prepaid card is reloaded',
  })
  .meta({ id: 'NewCard', description: 'A request for a card.' });

/** The validated body of `POST /cards`. */
export type CreateCardBody = z.infer<typeof createCardBody>;

/** The card in the examples of the API reference. */
export const exampleCard = {
  id: 'crd_01kaj2v6wte8v9kcz0t3yd4m5n',
  card_id: 'crd_01kaj2v6wte8v9kcz0t3yd4m5n',
  customer_id: 'customer-7',
  type: 'virtual',
  funding: 'prepaid',
  name: 'Ada Obi',
  brand: 'verve',
  last4: '4242',
  expiry_month: 11,
  expiry_year: 2029,
  currency: 'NGN',
  status: 'active',
  locked_by: [] as ('tenant' | 'issuer' | 'operator' | 'activation')[],
  provider: 'sandbox-bank',
  failure: null,
  metadata: { team: 'sales' },
  created_at: '2026-11-21T09:30:00.000Z',
};

const issuedDescription = 'Null until the issuer has issued the card.';

/** A card in answers and webhook events. */
export const cardResource = z
  .object({
    id: idSchema('card'),
    card_id: idSchema('card').meta({ description: 'The same value as `id`.' }),
    customer_id: z.string().meta({ description: 'Your own id of the cardholder.' }),
    type: z.enum(['virtual', 'physical']),
    funding: z.enum(['prepaid', 'jit']).meta({
      description:
        '`prepaid`: payments spend the balance of the card. `jit`: a payment that the balance of the card does not cover is held in the wallet, in full.',
    }),
    name: z.string().nullable().meta({ description: 'The name to print on the card.' }),
    brand: z.string().nullable().meta({ description: issuedDescription }),
    last4: z.string().nullable().meta({ description: issuedDescription }),
    expiry_month: z.int().min(1).max(12).nullable().meta({ description: issuedDescription }),
    expiry_year: z.int().nullable().meta({ description: issuedDescription }),
    currency: z.literal('NGN'),
    status: z.enum(['pending', 'active', 'locked', 'failed', 'expired', 'closed']),
    locked_by: z.array(z.enum(['tenant', 'issuer', 'operator', 'activation'])).meta({
      description:
        'The parties that lock a `locked` card. `activation`: it was never unlocked since it was issued. None: the issuer has not confirmed the unlock yet.',
    }),
    provider: z.string(),
    failure: failureField,
    metadata: z.record(z.string(), z.unknown()),
    created_at: timestamp('When the card was accepted.'),
  })
  .meta({
    id: 'Card',
    description: 'A card of a customer. Its number and its security code are in no answer.',
    example: exampleCard,
  });

/** The balance of a card in answers. */
export const balanceResource = z
  .object({
    card_id: idSchema('card'),
    available_minor: amountMinor(
      'Kobo that can be spent: the balance less all holds of authorizations.',
    ),
    currency: z.literal('NGN'),
    as_of: timestamp('When the balance was read.'),
  })
  .meta({
    id: 'CardBalance',
    description: 'The money on a card.',
    example: {
      card_id: exampleCard.id,
      available_minor: 500_000,
      currency: 'NGN',
      as_of: '2026-11-21T09:31:00.000Z',
    },
  });

/** The operation in the examples of the API reference. */
export const exampleOperation = {
  id: 'cop_01kaj2v6wte8v9kcz0t3yd4m5n',
  card_id: exampleCard.id,
  type: 'fund',
  status: 'completed',
  amount_minor: 500_000,
  settled_amount_minor: null,
  currency: 'NGN',
  transaction_reference: 'top-up-7',
  reason: null,
  request_id: null,
  metadata: {},
  failure: null,
  attention: null,
  created_at: '2026-11-21T09:30:30.000Z',
  completed_at: '2026-11-21T09:30:31.000Z',
};

/** An operation on a card in answers and webhook events. */
export const cardOperationResource = z
  .object({
    id: idSchema('cardOperation'),
    card_id: idSchema('card'),
    type: z.enum(SHOWN_TYPES),
    status: instructionStatus,
    amount_minor: amountMinor('Amount in kobo; null if no money moves.').nullable(),
    settled_amount_minor: amountMinor(
      'Amount in kobo that the issuer has moved, if it is not `amount_minor`: of a funding, an operator has accepted it.',
    ).nullable(),
    currency: z.literal('NGN'),
    transaction_reference: z.string().nullable(),
    reason: z.string().nullable(),
    request_id: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    failure: failureField,
    attention: attentionField,
    created_at: timestamp('When the operation was accepted.'),
    completed_at: timestamp('When the operation was completed; null until then.').nullable(),
  })
  .meta({
    id: 'CardOperation',
    description: 'An act on a card that the issuer carries out, such as a funding or a lock.',
    example: exampleOperation,
  });
