import { z } from 'zod';
import { amountMinor, pageQuery, timestamp, namedBy } from '../../platform/http/wire.js';
import { attentionField } from '../../core/instructions/api-fields.js';
import { idSchema } from '../../shared/ids.js';

import { DISPUTE_STATUSES } from './record.js';

const status = z.enum(DISPUTE_STATUSES);

/** The query of GET /payments/disputes. */
export const listDisputesQuery = z.strictObject({
  ...pageQuery(),
  status: status.optional(),
  charge_reference: namedBy('Your reference of the charge.', 'subscription-9-setup').optional(),
  sort: z
    .enum(['created_at', '-created_at'])
    .default('-created_at')
    .meta({ description: 'A minus sorts in descending order.' }),
});

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleDispute = {
  id: 'dsp_01kaj2v6wte8v9kcz0t3yd4m5n',
  charge_reference: 'subscription-9-setup',
  amount_minor: 500_000,
  currency: 'NGN' as const,
  status: 'open' as const,
  reason: 'not_recognized',
  due_at: '2026-12-05T09:30:00.000Z',
  attention: null,
  created_at: '2026-11-21T09:30:00.000Z',
  decided_at: null,
};

/** A dispute, as tenants get it. */
export const disputeResource = z
  .object({
    id: idSchema('dispute'),
    charge_reference: z.string().meta({ description: 'Your reference of the charge.' }),
    amount_minor: amountMinor('Disputed amount in kobo.'),
    currency: z.literal('NGN'),
    status: status.meta({
      description:
        '`open`: the amount is taken from the wallet. `won`: it is in the wallet again. `lost`: the customer has it.',
    }),
    reason: z.string().nullable().meta({ description: 'The reason that the provider names.' }),
    due_at: timestamp('When it is lost if nobody answers it.').nullable(),
    attention: attentionField,
    created_at: timestamp('When the dispute became known.'),
    decided_at: timestamp('When the dispute was won or lost.').nullable(),
  })
  .meta({
    id: 'Dispute',
    description: 'The dispute of a charge by its customer, which the provider decides.',
    example: exampleDispute,
  });
