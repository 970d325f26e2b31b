import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { amountMinor, pageQuery, timestamp } from '../../platform/http/wire.js';
import {
  attentionField,
  failureField,
  instructionStatus,
  timelineEntryResource,
} from '../../core/instructions/api-fields.js';
import { createRefundBody } from './schema.js';

const exampleRefund = {
  reference: 'subscription-9-refund',
  charge_reference: 'subscription-9-setup',
  amount_minor: 100_000,
  currency: 'NGN' as const,
  status: 'completed' as const,
  reason: 'Returned',
  failure: null,
  attention: null,
  created_at: '2026-11-21T10:30:00.000Z',
  completed_at: '2026-11-21T10:30:01.000Z',
};

export const refundResource = z
  .object({
    reference: z.string().meta({ description: 'What it is asked for by.' }),
    charge_reference: z.string().meta({ description: 'Your reference of the charge.' }),
    amount_minor: amountMinor('Kobo that the customer gets back.'),
    currency: z.literal('NGN'),
    status: instructionStatus,
    reason: z.string().nullable(),
    failure: failureField,
    attention: attentionField,
    created_at: timestamp('When it was accepted.'),
    completed_at: timestamp('When it was proven that the provider refunded.').nullable(),
  })
  .meta({ id: 'Refund', example: exampleRefund });

const tag = 'Payments';
const params = {
  reference: z.string().min(1).max(100).meta({
    description: 'Your reference of the refund, or our id of it.',
    example: exampleRefund.reference,
  }),
};

export const createRefund = operation({
  id: 'createRefund',
  tag,
  method: 'post',
  path: '/payments/refunds',
  summary: 'Refund a charge, whole or in part',
  description:
    'The amount is held in the wallet until the provider has refunded (`completed`) or definitely has not (`failed`, ' +
    'and the hold is back). Refunds of a charge never come to more than it was, those under way counted; the ' +
    'provider’s fee is not given back.',
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

export const getRefund = operation({
  id: 'getRefund',
  tag,
  method: 'get',
  path: '/payments/refunds/{reference}',
  summary: 'Get a refund',
  params,
  answer: { status: 200, data: refundResource },
});

export const getRefundTimeline = operation({
  id: 'getRefundTimeline',
  tag,
  method: 'get',
  path: '/payments/refunds/{reference}/timeline',
  summary: 'Every step of a refund, in order',
  description: 'What happened, when, by whom, and under which request of the provider’s.',
  params,
  query: z.strictObject(pageQuery(100)),
  answer: { status: 200, data: timelineEntryResource, list: true },
});

export const refundOperations = { createRefund, getRefund, getRefundTimeline };

export const refundEvents = {
  when: {
    'refund.completed': 'the provider has given the customer the money back',
    'refund.failed':
      'it is certain that the customer was not given the money back, or an operator gave it up; the amount is in the wallet again',
  },
  data: refundResource,
};
