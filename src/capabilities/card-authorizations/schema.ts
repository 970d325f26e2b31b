import { z } from 'zod';
import {
  amountMinor,
  offsetQuery,
  timestamp,
  daysQuery,
  withDaysInOrder,
} from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';

const exampleAuthorization = {
  id: 'aut_5jb6zk3t1v9w8x7y6hqnr4mp2d',
  card_id: 'crd_01kaj2v6wte8v9kcz0t3yd4m5n',
  status: 'cleared',
  approved: true,
  code: 'approved',
  decline_code: null,
  amount_minor: 5_000,
  held_minor: 0,
  cleared_minor: 4_200,
  refunded_minor: 0,
  disputed_minor: 0,
  credited_minor: 0,
  currency: 'NGN',
  channel: 'pos',
  merchant: { name: 'Mama Put', category: '5812', country: 'NG' },
  cash_minor: null,
  merchant_amount: null,
  initiator: 'cardholder',
  stand_in: null,
  forced: false,
  attention: null,
  expires_at: '2026-11-28T09:30:00.000Z',
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T18:00:00.000Z',
};

const STATUSES = [
  'approved',
  'declined',
  'partially_cleared',
  'cleared',
  'reversed',
  'expired',
] as const;

/** The query of `GET /cards/authorizations`. Dates are UTC days, both inclusive. */
export const listAuthorizationsQuery = withDaysInOrder(
  z.strictObject({
    ...offsetQuery(),
    card_id: idSchema('card').optional(),
    status: z.enum(STATUSES).optional(),
    ...daysQuery('the first decision'),
  }),
);

/** The validated query of `GET /cards/authorizations`. */
export type ListAuthorizationsQuery = z.output<typeof listAuthorizationsQuery>;

/** An authorization in answers. */
export const cardAuthorizationResource = z
  .object({
    id: idSchema('authorization'),
    card_id: idSchema('card'),
    status: z.enum(STATUSES),
    approved: z.boolean().meta({
      description:
        'The decision: any request of the payment was approved. Later events do not change it.',
    }),
    code: z.string().meta({ description: 'The reason for the decision.' }),
    decline_code: z.string().nullable().meta({
      description: 'The `code` of a payment of which nothing was approved; otherwise null.',
    }),
    amount_minor: amountMinor(
      'The approved amount with all increments, in minor units of the currency; of a declined payment the requested one.',
    ),
    held_minor: amountMinor('Amount in kobo that is still held.'),
    cleared_minor: amountMinor(
      'Amount in kobo that was taken. It may be less or more than the approved amount.',
    ),
    refunded_minor: amountMinor('Amount in kobo that refunds of the merchant returned.'),
    disputed_minor: amountMinor(
      'Amount in kobo of the disputes of the payment, without those that failed or were cancelled.',
    ),
    credited_minor: amountMinor('Amount in kobo that the issuer returned because of disputes.'),
    currency: z.string(),
    channel: z.enum(['online', 'pos', 'atm', 'contactless']).nullable(),
    merchant: z
      .object({
        name: z.string(),
        category: z.string().meta({ description: 'Merchant category code, ISO 18245.' }),
        country: z.string().meta({ description: 'Country code, ISO 3166.' }),
      })
      .nullable(),
    cash_minor: amountMinor(
      'The part of the amount that the cardholder gets in cash, as the first request that says so has it.',
    ).nullable(),
    merchant_amount: z
      .object({
        amount_minor: amountMinor('Amount in minor units of that currency.'),
        currency: z.string().meta({ description: 'ISO 4217.' }),
      })
      .nullable()
      .meta({
        description: 'The amount in the merchant’s currency; null if the issuer does not say.',
      }),
    initiator: z
      .enum(['cardholder', 'merchant'])
      .nullable()
      .meta({ description: 'The party that began the payment; null if the issuer does not say.' }),
    stand_in: z
      .enum(['issuer', 'network'])
      .nullable()
      .meta({ description: 'The party that approved the payment in our place; null: none did.' }),
    forced: z.boolean().meta({
      description: 'The network has taken money by force: without a request, or beyond it.',
    }),
    attention: z
      .object({ since: timestamp('When the attention began.'), reason: z.string() })
      .nullable()
      .meta({
        description: 'Time and reason of the call for one of our operators; null without one.',
      }),
    expires_at: timestamp(
      'The end of the hold, as the issuer has named it, or by our terms: the issuer is asked then if it reports nothing.',
    ).nullable(),
    created_at: timestamp('When the authorization was decided.'),
    updated_at: timestamp('When the authorization last changed.'),
  })
  .meta({
    id: 'CardAuthorization',
    description: 'A payment with a card, from the network’s question on.',
    example: exampleAuthorization,
  });
