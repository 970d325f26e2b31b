import { z } from 'zod';
import {
  idempotencyKey,
  MAX_AMOUNT_MINOR,
  daysQuery,
  pageQuery,
  withDaysInOrder,
  plainText,
  amountMinor,
  timestamp,
  ownName,
} from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { metadata } from '../../shared/metadata.js';
import { customerId, knownCustomerId } from '../customers/index.js';
import { ALWAYS, customerBody, returnUrl } from '../payment-tokens/index.js';
import { attentionField, failureField } from '../../core/instructions/api-fields.js';

/** The way in which a charge is paid. */
export const captureMode = z.enum(['customer_action_required', 'merchant_initiated']).meta({
  description:
    '`customer_action_required`: the customer pays on the provider’s page, where `next_action` leads. ' +
    '`merchant_initiated`: an active payment token is charged without the customer.',
});

const chargeFields = {
  amount_minor: z
    .int()
    .min(1)
    .max(MAX_AMOUNT_MINOR)
    .meta({ description: 'Amount in kobo that the customer pays.', example: 500_000 }),
  currency: z.literal('NGN').default('NGN'),
  capture_mode: captureMode,
  customer: customerBody.optional().meta({
    description:
      'The paying customer. With a payment token it is the token’s, and may be left out.',
  }),
  customer_id: customerId.optional().meta({
    description:
      'Your own id of the customer, in place of `customer` where a payment token is named.',
  }),
  payment_token_id: idSchema('paymentToken')
    .optional()
    .meta({
      description:
        'With `merchant_initiated`, the token that is charged (required). With `customer_action_required`, the token ' +
        'that this charge binds. A public key may name a token that a public key made.',
    }),
  reference: ownName(
    'Your own name of the charge, unique for ever. The default is its id.',
    'subscription-9-setup',
  ).optional(),
  description: plainText(200)
    .optional()
    .meta({ description: 'Purpose of the charge.', example: 'First month' }),
  return_url: returnUrl.optional(),
  metadata: metadata.optional(),
  idempotency_key: idempotencyKey.optional(),
};

/** The body of POST /payments/charges. */
export const createChargeBody = z
  .strictObject(chargeFields)
  .superRefine((body, ctx) => {
    const refuse = (field: string, message: string) =>
      ctx.addIssue({ code: 'custom', path: [field], message });
    const { customer, customer_id: id, payment_token_id: token, capture_mode: mode } = body;
    if (mode === 'merchant_initiated' && token === undefined) {
      refuse('payment_token_id', 'This field is required for a merchant-initiated charge.');
    }
    if (customer === undefined && token === undefined) {
      refuse('customer', 'This field is required without a payment token.');
    }
    // These rules see invalid bodies too, in which the customer may be null.
    const named = (customer as typeof customer | null)?.id;
    if (named !== undefined && id !== undefined && named !== id) {
      refuse('customer_id', 'must be the id of the customer');
    }
  }, ALWAYS)
  .meta({
    id: 'NewCharge',
    description: 'A charge of a customer, or of a saved payment method.',
    override: ({ jsonSchema }: { jsonSchema: object }) => {
      const mode = (name: string) => ({ capture_mode: { const: name } });
      Object.assign(jsonSchema, {
        oneOf: [
          {
            properties: mode('customer_action_required'),
            anyOf: [{ required: ['customer'] }, { required: ['payment_token_id'] }],
          },
          { required: ['payment_token_id'], properties: mode('merchant_initiated') },
        ],
      });
    },
  });

/** The body of a request to create a charge. */
export type CreateChargeBody = z.infer<typeof createChargeBody>;

/** The query of GET /payments/charges. Dates are UTC days, both inclusive. */
export const listChargesQuery = withDaysInOrder(
  z.strictObject({
    ...pageQuery(),
    status: z.enum(['pending', 'requires_action', 'processing', 'completed', 'failed']).optional(),
    customer_id: knownCustomerId.optional(),
    ...daysQuery('acceptance'),
    sort: z
      .enum(['created_at', '-created_at'])
      .default('-created_at')
      .meta({ description: 'A minus sorts in descending order.' }),
  }),
);

/** The query of a list of charges. */
export type ListChargesQuery = z.infer<typeof listChargesQuery>;

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleCharge = {
  reference: 'subscription-9-setup',
  amount_minor: 500_000,
  settled_amount_minor: null,
  currency: 'NGN' as const,
  capture_mode: 'customer_action_required' as const,
  status: 'completed' as const,
  customer_id: 'customer-77',
  payment_token_id: 'tok_01kaj2v6wte8v9kcz0t3yd4m5n',
  next_action: null,
  next_attempt_at: null,
  refunded_minor: 0,
  disputed_minor: 0,
  failure: null,
  attention: null,
  description: 'First month',
  metadata: { order: '1042' },
  created_at: '2026-11-21T09:30:00.000Z',
  completed_at: '2026-11-21T09:31:12.000Z',
};

/** A charge, as tenants get it. */
export const chargeResource = z
  .object({
    reference: z.string().meta({ description: 'Identifies the charge in paths.' }),
    amount_minor: amountMinor('Amount in kobo that the customer pays.'),
    settled_amount_minor: amountMinor(
      'Amount in kobo that the customer has paid, if it is not `amount_minor`; an operator has accepted it.',
    ).nullable(),
    currency: z.literal('NGN'),
    capture_mode: captureMode,
    status: z.enum(['pending', 'requires_action', 'processing', 'completed', 'failed']).meta({
      description:
        '`requires_action`: send the customer to `next_action.url`. A charge that failed because nobody paid ' +
        'becomes `completed` if a payment is proven later.',
    }),
    customer_id: z.string(),
    payment_token_id: idSchema('paymentToken').nullable(),
    next_action: z
      .object({ type: z.literal('redirect'), url: z.string() })
      .nullable()
      .meta({ description: 'The page to which the customer is sent next.' }),
    next_attempt_at: timestamp(
      'When a merchant-initiated charge that was declined softly is due to be tried again; null while no attempt waits.',
    ).nullable(),
    refunded_minor: amountMinor('Refunded amount in kobo.'),
    disputed_minor: amountMinor('Amount in kobo of its open and lost disputes.'),
    failure: failureField,
    attention: attentionField,
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: timestamp('When the charge was accepted.'),
    completed_at: timestamp('When the payment was proven and credited.').nullable(),
  })
  .meta({ id: 'Charge', description: 'A payment of a customer to you.', example: exampleCharge });
