import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { amountMinor, pageQuery, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import {
  attentionField,
  failureField,
  timelineEntryResource,
} from '../../core/instructions/api-fields.js';
import { captureMode, createChargeBody, listChargesQuery } from './schema.js';

const exampleCharge = {
  reference: 'subscription-9-setup',
  amount_minor: 500_000,
  currency: 'NGN' as const,
  capture_mode: 'customer_action_required' as const,
  status: 'completed' as const,
  customer_id: 'customer-77',
  payment_token_id: 'tok_01kaj2v6wte8v9kcz0t3yd4m5n',
  next_action: null,
  refunded_minor: 0,
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
    refunded_minor: amountMinor('Refunded amount in kobo.'),
    failure: failureField,
    attention: attentionField,
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: timestamp('When the charge was accepted.'),
    completed_at: timestamp('When the payment was proven and credited.').nullable(),
  })
  .meta({ id: 'Charge', example: exampleCharge });

const tag = 'Payments';
const params = {
  reference: z.string().min(1).max(100).meta({
    description: 'Your reference of the charge, or its id.',
    example: exampleCharge.reference,
  }),
};
const exampleBody = {
  amount_minor: exampleCharge.amount_minor,
  capture_mode: exampleCharge.capture_mode,
  customer: { id: 'customer-77', email: 'ada@example.com' },
  description: exampleCharge.description,
  return_url: 'https://shop.example/paid',
  metadata: exampleCharge.metadata,
};

/** Creates a charge. */
export const createCharge = operation({
  id: 'createCharge',
  tag,
  method: 'post',
  path: '/payments/charges',
  summary: 'Charge a customer',
  description:
    'With `customer_action_required` the customer pays on the provider’s page. Its address is in `next_action`, ' +
    'also of this response if you send `Prefer: wait=5`. With `merchant_initiated` an active payment token is ' +
    'charged; a soft decline is retried on later days. A payment credits the wallet, less the ' +
    'provider’s fee. Public keys: `customer_action_required` only.',
  access: 'public_key',
  body: createChargeBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: chargeResource },
  refusals: ['not_found', 'duplicate_reference', 'invalid_state'],
  examples: {
    body: exampleBody,
    data: {
      ...exampleCharge,
      reference: 'chg_01kaj2v6wte8v9kcz0t3yd4m5n',
      status: 'pending',
      payment_token_id: null,
      completed_at: null,
    },
  },
});

/** Lists charges. */
export const listCharges = operation({
  id: 'listCharges',
  tag,
  method: 'get',
  path: '/payments/charges',
  summary: 'List charges',
  query: listChargesQuery,
  answer: { status: 200, data: chargeResource, list: true },
});

/** Shows a charge. */
export const getCharge = operation({
  id: 'getCharge',
  tag,
  method: 'get',
  path: '/payments/charges/{reference}',
  summary: 'Get a charge',
  params,
  answer: { status: 200, data: chargeResource },
});

/** Shows the timeline of a charge. */
export const getChargeTimeline = operation({
  id: 'getChargeTimeline',
  tag,
  method: 'get',
  path: '/payments/charges/{reference}/timeline',
  summary: 'Get the timeline of a charge',
  description: 'Every step in order, with time, actor and the provider’s request id.',
  params,
  query: z.strictObject(pageQuery(100)),
  answer: { status: 200, data: timelineEntryResource, list: true },
});

/** Verifies a charge at its provider. */
export const verifyCharge = operation({
  id: 'verifyCharge',
  tag,
  method: 'post',
  path: '/payments/charges/{reference}/verify',
  summary: 'Verify a charge with the provider',
  description:
    'Asks the provider about the charge. Call it when the customer returns from the provider’s page. The provider’s ' +
    'answer is applied before the charge is returned. If the provider does not answer, nothing changes. Repeated ' +
    'calls are safe.',
  params,
  safe: true,
  answer: { status: 200, data: chargeResource },
});

/** The operations on charges. */
export const chargeOperations = {
  createCharge,
  listCharges,
  getCharge,
  getChargeTimeline,
  verifyCharge,
};

/** The webhook events of charges. */
export const chargeEvents = {
  when: {
    'charge.requires_action': 'the customer of a charge must act on a page',
    'charge.completed': 'a charge is paid, and the wallet is credited',
    'charge.failed': 'a charge is proven to be unpaid, or an operator failed it',
  },
  data: chargeResource,
};
