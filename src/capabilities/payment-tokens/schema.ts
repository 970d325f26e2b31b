import { z } from 'zod';
import { plainText, idempotencyKey, timestamp } from '../../platform/http/wire.js';
import { failureField } from '../../core/instructions/api-fields.js';
import { metadata } from '../../shared/metadata.js';
import { idSchema } from '../../shared/ids.js';
import { customerId } from '../customers/index.js';

/** The customer in a request. */
export const customerBody = z
  .strictObject({
    id: customerId,
    email: z
      .email()
      .max(254)
      .meta({ description: 'Address for the provider’s receipts.', example: 'ada@example.com' }),
    name: plainText(200).optional(),
  })
  .meta({ id: 'Customer', description: 'The paying customer.' });

/** A customer as it is stored. */
export const customerOf = ({ id, email, name }: z.infer<typeof customerBody>) => ({
  id,
  email,
  name: name ?? null,
});

/** Runs a refinement although other fields are invalid. */
export const ALWAYS = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/** The pattern accepts the port numbers 0 to 65535 only, so that the OpenAPI document states the rule. */
const PORT = '([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const BYTE = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
/** A name whose last label begins with a letter, because a URL takes a number there for an IPv4 address, or such an address. */
const HOST = `([A-Za-z0-9-]+\\.)*[A-Za-z][A-Za-z0-9-]*|(${BYTE}\\.){3}${BYTE}`;
const RETURN_URL = `^https?:\\/\\/(${HOST})(:${PORT})?([/?#][\\x21-\\x7e]*)?$`;

/** The address to which a page sends the customer. */
export const returnUrl = z
  .string()
  .max(2_000)
  .regex(new RegExp(RETURN_URL), 'must be an http or https address')
  .refine((url) => URL.canParse(url), 'must be an http or https address')
  .meta({
    description: 'Address to which the provider’s page sends the customer at the end.',
    example: 'https://shop.example/paid',
  });

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleToken = {
  payment_token_id: 'tok_01kaj2v6wte8v9kcz0t3yd4m5n',
  customer_id: 'customer-77',
  type: 'card' as const,
  status: 'active' as const,
  brand: 'visa',
  last4: '4081',
  created_at: '2026-11-21T09:30:00.000Z',
};

/** The latest set-up of a token without a payment, as tenants get it. */
const setupResource = z
  .object({
    status: z.enum(['pending', 'requires_action', 'completed', 'failed']).meta({
      description:
        '`requires_action`: send the customer to `next_action.url`. A failed one becomes `completed` if a saved method is ' +
        'told later.',
    }),
    next_action: z
      .object({ type: z.literal('redirect'), url: z.string() })
      .nullable()
      .meta({ description: 'The page to which the customer is sent next.' }),
    failure: failureField,
    expires_at: timestamp('When the page is over.'),
  })
  .meta({
    description: 'The latest set-up without a payment. Absent if none was asked for.',
  });

/** A payment token, as tenants get it. */
export const tokenResource = z
  .object({
    payment_token_id: idSchema('paymentToken'),
    customer_id: z.string(),
    type: z.enum(['card', 'bank_account']),
    status: z.enum(['unbound', 'active', 'revoked']).meta({
      description:
        '`unbound` until a setup charge with this token is paid; then `active`: it can be charged without the ' +
        'customer. `revoked`: deleted, or its card can never be charged again.',
    }),
    brand: z.string().optional(),
    last4: z.string().optional(),
    bank_code: z.string().optional(),
    setup: setupResource.optional(),
    created_at: timestamp('When the token was created.'),
  })
  .meta({
    id: 'PaymentToken',
    description: 'A saved payment method of a customer.',
    example: exampleToken,
  });

const common = {
  customer: customerBody,
  metadata: metadata.optional(),
  idempotency_key: idempotencyKey.optional(),
};

/** The body of a request for a card's token. */
export const cardTokenBody = z.strictObject(common).meta({
  id: 'NewCardToken',
  description:
    'A card to be saved for later charges. It has no card data: the customer enters them at the provider.',
});

/** The body of a request to set up a token without a payment. */
export const tokenSetupBody = z
  .strictObject({ return_url: returnUrl.optional(), idempotency_key: idempotencyKey.optional() })
  .meta({
    id: 'NewTokenSetup',
    description: 'A request for a page on which the customer confirms the payment method.',
  });

/** The body of a request for a bank account's token. */
export const bankAccountTokenBody = z
  .strictObject({
    ...common,
    account_number: z
      .string()
      .regex(/^[0-9]{10}$/, 'must be 10 digits')
      .meta({ description: 'NUBAN account number.', example: '0123456789' }),
    bank_code: z
      .string()
      .regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits')
      .meta({ description: 'CBN or NIP code, see `GET /transfers/banks`.', example: '058' }),
  })
  .meta({
    id: 'NewBankAccountToken',
    description: 'A bank account to be saved for later charges.',
  });
