import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { namedBy, pageQuery } from '../../platform/http/wire.js';
import { timelineEntryResource } from '../../core/instructions/api-fields.js';
import { createRefundBody, listRefundsQuery, refundResource, exampleRefund } from './schema.js';

const tag = 'Payments';
const params = {
  reference: namedBy('Your reference of the refund, or its id.', exampleRefund.reference),
};

/** Creates a refund. */
export const createRefund = operation({
  id: 'createRefund',
  tag,
  method: 'post',
  path: '/payments/refunds',
  summary: 'Create a refund',
  description:
    'Refunds a charge in full or in part. The amount is held in the wallet until the provider has refunded it ' +
    '(`completed`) or has definitely not (`failed`: the hold is released). Refunds of a charge, including those in ' +
    'flight, never exceed its amount. The provider’s fee is not refunded.',
  body: createRefundBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: refundResource },
  refusals: ['not_found', 'duplicate_reference', 'invalid_state', 'insufficient_balance'],
  examples: {
    body: {
      charge_reference: exampleRefund.charge_reference,
      amount_minor: exampleRefund.amount_minor,
      reason: exampleRefund.reason,
    },
    data: {
      ...exampleRefund,
      reference: 'ref_01kaj2v6wte8v9kcz0t3yd4m5n',
      status: 'pending',
      completed_at: null,
    },
  },
  links: { getRefund: 'reference' },
});

/** Lists refunds. */
export const listRefunds = operation({
  id: 'listRefunds',
  tag,
  method: 'get',
  path: '/payments/refunds',
  summary: 'List refunds',
  query: listRefundsQuery,
  answer: { status: 200, data: refundResource, list: true },
});

/** Shows a refund. */
export const getRefund = operation({
  id: 'getRefund',
  tag,
  method: 'get',
  path: '/payments/refunds/{reference}',
  summary: 'Get a refund',
  params,
  answer: { status: 200, data: refundResource },
});

/** Shows the timeline of a refund. */
export const getRefundTimeline = operation({
  id: 'getRefundTimeline',
  tag,
  method: 'get',
  path: '/payments/refunds/{reference}/timeline',
  summary: 'Get the timeline of a refund',
  description: 'Every step in order, with time, actor and the provider’s request id.',
  params,
  query: z.strictObject(pageQuery(100)),
  answer: { status: 200, data: timelineEntryResource, list: true },
});

/** The operations on refunds. */
export const refundOperations = { createRefund, listRefunds, getRefund, getRefundTimeline };
