import { z } from 'zod';
import {
  amountMinor,
  daysQuery,
  idempotencyKey,
  MAX_AMOUNT_MINOR,
  offsetQuery,
  ownName,
  plainText,
  timestamp,
  withDaysInOrder,
} from '../../platform/http/wire.js';
import { failureField } from '../../core/instructions/api-fields.js';
import { CARD_DISPUTE_REASONS } from '../../core/providers/card-issuer.js';
import { idSchema } from '../../shared/ids.js';
import { CARD_DISPUTE_STATUSES } from './record.js';

const reason = z.enum(CARD_DISPUTE_REASONS);
const status = z.enum(CARD_DISPUTE_STATUSES);

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleCardDispute = {
  id: 'cdp_01kaj2v6wte8v9kcz0t3yd4m5n',
  card_id: 'crd_01kaj2v6wte8v9kcz0t3yd4m5n',
  authorization_id: 'aut_5jb6zk3t1v9w8x7y6hqnr4mp2d',
  amount_minor: 4_200,
  credited_minor: 4_200,
  currency: 'NGN' as const,
  status: 'open' as const,
  reason: 'not_received' as const,
  explanation: 'The order of 3 November has not come.',
  transaction_reference: 'complaint-7',
  cancellation: null,
  failure: null,
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-22T09:30:00.000Z',
  decided_at: null,
};

/** The body of `POST /cards/authorizations/{id}/disputes`. */
export const createCardDisputeBody = z
  .strictObject({
    amount_minor: z.int().min(1).max(MAX_AMOUNT_MINOR).optional().meta({
      description:
        'Amount in kobo to dispute. The default is all that was taken, and neither refunded nor disputed.',
      example: exampleCardDispute.amount_minor,
    }),
    reason: reason.meta({
      description:
        '`fraud`: the cardholder did not make the payment. `not_received`, `duplicate`, `not_as_described`, `cancelled` ' +
        '(the order or the subscription was), or `other`.',
    }),
    explanation: plainText(1_000).meta({
      description:
        'Your account of the events, for the issuer. It must not contain card data; leave out personal data.',
      example: exampleCardDispute.explanation,
    }),
    transaction_reference: ownName(
      'Your own reference, unique among all operations of the card.',
      exampleCardDispute.transaction_reference,
    ).optional(),
    idempotency_key: idempotencyKey.optional(),
  })
  .meta({
    id: 'NewCardDispute',
    description: 'The card payment that a cardholder disputes, and why.',
  });

/** The validated body of a dispute. */
export type CreateCardDisputeBody = z.infer<typeof createCardDisputeBody>;

/** The query of `GET /cards/disputes`. Dates are UTC days, both inclusive. */
export const listCardDisputesQuery = withDaysInOrder(
  z.strictObject({
    ...offsetQuery(),
    card_id: idSchema('card').optional(),
    authorization_id: idSchema('authorization')
      .meta({ description: 'Id of the disputed payment.' })
      .optional(),
    status: status.optional(),
    ...daysQuery('the acceptance'),
  }),
);

/** A dispute of a card payment, as tenants get it. */
export const cardDisputeResource = z
  .object({
    id: idSchema('cardDispute'),
    card_id: idSchema('card'),
    authorization_id: idSchema('authorization').meta({
      description: 'Id of the disputed payment.',
    }),
    amount_minor: amountMinor('Disputed amount in kobo.'),
    credited_minor: amountMinor(
      'Amount in kobo that the issuer has given, and not taken back: a provisional credit while the dispute is open.',
    ),
    currency: z.literal('NGN'),
    status: status.meta({
      description:
        '`pending`: the issuer has not confirmed yet that it has the dispute. `open`: it pursues it. `won`: ' +
        '`credited_minor` stays. `lost`: nothing stays. `cancelled`: it was withdrawn. `failed`: the issuer refused it.',
    }),
    reason,
    explanation: z
      .string()
      .nullable()
      .meta({ description: 'Your explanation; null once the customer is erased.' }),
    transaction_reference: z.string().nullable(),
    cancellation: z
      .enum(['requested', 'refused'])
      .nullable()
      .meta({
        description:
          '`requested`: the issuer is asked to withdraw the dispute. `refused`: it pursues it, or has decided it before. ' +
          'Null without a request, and once the dispute is cancelled.',
      }),
    failure: failureField,
    created_at: timestamp('When the dispute was accepted.'),
    updated_at: timestamp('When the dispute last changed.'),
    decided_at: timestamp('When the dispute ended.').nullable(),
  })
  .meta({
    id: 'CardDispute',
    description: 'The dispute of a card payment with its merchant, which the issuer decides.',
    example: exampleCardDispute,
  });
