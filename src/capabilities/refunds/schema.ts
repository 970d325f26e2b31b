import { z } from 'zod';
import {
  idempotencyKey,
  MAX_AMOUNT_MINOR,
  pageQuery,
  plainText,
  amountMinor,
  timestamp,
  namedBy,
  ownName,
} from '../../platform/http/wire.js';
import {
  attentionField,
  failureField,
  instructionStatus,
} from '../../core/instructions/api-fields.js';

/** The body of POST /payments/refunds. */
export const createRefundBody = z
  .strictObject({
    charge_reference: namedBy('Your reference of the charge.', 'subscription-9-setup'),
    amount_minor: z.int().min(1).max(MAX_AMOUNT_MINOR).optional().meta({
      description:
        'Amount in kobo that the customer gets back. The default is the rest of the charge.',
      example: 100_000,
    }),
    currency: z.literal('NGN').optional().meta({ description: 'The currency of the charge.' }),
    reason: plainText(200)
      .optional()
      .meta({ description: 'The reason for the refund.', example: 'Returned' }),
    reference: ownName(
      'Your own name of the refund, unique for ever. The default is its id.',
      'subscription-9-refund',
    ).optional(),
    idempotency_key: idempotencyKey.optional(),
  })
  .meta({ id: 'NewRefund', description: 'A request to pay a charge back, wholly or in part.' });

/** The body of a request to create a refund. */
export type CreateRefundBody = z.infer<typeof createRefundBody>;

/** The query of GET /payments/refunds. */
export const listRefundsQuery = z.strictObject({
  ...pageQuery(),
  status: instructionStatus.optional(),
  charge_reference: namedBy('Your reference of the charge.', 'subscription-9-setup').optional(),
  sort: z
    .enum(['created_at', '-created_at'])
    .default('-created_at')
    .meta({ description: 'A minus sorts in descending order.' }),
});

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleRefund = {
  reference: 'subscription-9-refund',
  charge_reference: 'subscription-9-setup',
  amount_minor: 100_000,
  settled_amount_minor: null,
  currency: 'NGN' as const,
  status: 'completed' as const,
  reason: 'Returned',
  failure: null,
  attention: null,
  created_at: '2026-11-21T10:30:00.000Z',
  completed_at: '2026-11-21T10:30:01.000Z',
};

/** A refund, as tenants get it. */
export const refundResource = z
  .object({
    reference: z.string().meta({ description: 'Identifies the refund in paths.' }),
    charge_reference: z.string().meta({ description: 'Your reference of the charge.' }),
    amount_minor: amountMinor('Amount in kobo that the customer gets back.'),
    settled_amount_minor: amountMinor(
      'Amount in kobo that the provider has refunded, if it is not `amount_minor`; an operator has accepted it. A rest is in the wallet again.',
    ).nullable(),
    currency: z.literal('NGN'),
    status: instructionStatus,
    reason: z.string().nullable(),
    failure: failureField,
    attention: attentionField,
    created_at: timestamp('When the refund was accepted.'),
    completed_at: timestamp('When the provider’s refund was proven.').nullable(),
  })
  .meta({ id: 'Refund', description: 'The refund of a charge.', example: exampleRefund });
