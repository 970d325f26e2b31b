import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { keyBody, namedBy, pageQuery } from '../../platform/http/wire.js';
import { timelineEntryResource } from '../../core/instructions/api-fields.js';
import { createChargeBody, listChargesQuery, chargeResource, exampleCharge } from './schema.js';

const tag = 'Payments';
const params = {
  reference: namedBy('Your reference of the charge, or its id.', exampleCharge.reference),
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
    'provider’s fee. Public keys: `customer_action_required` only, and ' +
    '429 while too many of their charges are open.',
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
    'answer is applied before the charge is returned. If the provider does not answer, or if too many charges are ' +
    'verified at this moment, the charge is returned as it is, and verified soon. Repeated calls are safe; one with the ' +
    'idempotency key of an earlier call gets its answer again, so send none or a new one to see the present state.',
  params,
  body: keyBody,
  idempotent: true,
  safe: true,
  answer: { status: 200, data: chargeResource },
  examples: { body: {} },
});

/** Cancels an open charge. */
export const cancelCharge = operation({
  id: 'cancelCharge',
  tag,
  method: 'post',
  path: '/payments/charges/{reference}/cancel',
  summary: 'Cancel an open charge',
  description:
    'Ends a charge that its customer has not paid: it becomes `failed` with the code `cancelled`. A charge that is paid ' +
    'at this moment may become `completed` all the same, and a payment that is proven later completes a cancelled ' +
    'charge. A charge of a payment token that is with the provider can’t be cancelled (`invalid_state`). Repeated calls ' +
    'are safe; one with the idempotency key of an earlier call gets its answer again.',
  params,
  body: keyBody,
  idempotent: true,
  safe: true,
  answer: { status: 200, data: chargeResource },
  refusals: ['invalid_state'],
  examples: { body: {} },
});

/** The operations on charges. */
export const chargeOperations = {
  createCharge,
  listCharges,
  getCharge,
  getChargeTimeline,
  verifyCharge,
  cancelCharge,
};
