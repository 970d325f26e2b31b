import { z } from 'zod';
import { idempotencyKey, plainText } from '../../platform/http/wire.js';
import { holdsCardNumber, metadata } from '../../shared/metadata.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';

const noCardNumber = (text: string) => !holdsCardNumber(text);
const REFUSED = 'must not hold a card number';

/** The body of POST /cards. */
export const createCardBody = z
  .strictObject({
    customer_id: z
      .string()
      .regex(/^[\x21-\x7e]{1,100}$/, textErrors(100, PRINTABLE))
      .refine(noCardNumber, REFUSED)
      .meta({ description: 'Your own id of who is to hold it.', example: 'customer-7' }),
    type: z.enum(['virtual', 'physical']),
    funding: z.enum(['prepaid', 'jit']).default('prepaid').meta({
      description:
        '`prepaid` spends what it was funded with; `jit` does so too, and a payment that this does not cover is held in the wallet, all of it.',
    }),
    currency: z.literal('NGN').default('NGN'),
    name: plainText(100)
      .refine(noCardNumber, REFUSED)
      .optional()
      .meta({ description: 'To be printed on it.', example: 'Ada Obi' }),
    metadata: metadata.optional(),
    idempotency_key: idempotencyKey.optional(),
  })
  .meta({ id: 'NewCard' });

export type CreateCardBody = z.infer<typeof createCardBody>;
