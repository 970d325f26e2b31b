import { z } from 'zod';
import { idempotencyKey, MAX_AMOUNT_MINOR, plainText } from '../../platform/http/wire.js';
import { ALWAYS, refuseCardData } from '../payment-tokens/index.js';
import { ownName } from '../payment-tokens/index.js';

/** The body of POST /payments/refunds. */
export const createRefundBody = z
  .strictObject({
    charge_reference: ownName('Your reference of the charge.', 'subscription-9-setup'),
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
  .superRefine(refuseCardData, ALWAYS)
  .meta({ id: 'NewRefund' });

/** The body of a request to create a refund. */
export type CreateRefundBody = z.infer<typeof createRefundBody>;
