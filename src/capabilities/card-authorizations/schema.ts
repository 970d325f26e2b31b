import { z } from 'zod';
import { MAX_AMOUNT_MINOR, amountMinor, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';

const limit = (description: string) =>
  z.int().min(1).max(MAX_AMOUNT_MINOR).nullable().meta({ description });

const codes = (pattern: RegExp, message: string, maximum: number) =>
  z
    .array(z.string().regex(pattern, message))
    .max(maximum)
    .refine((list) => new Set(list).size === list.length, 'must not name anything twice')
    .meta({ uniqueItems: true });

const settings = {
  per_transaction_limit_minor: limit('Highest amount in kobo of one payment; null: no limit.'),
  daily_limit_minor: limit(
    'Highest sum in kobo of the approved payments of one day in Africa/Lagos; null: no limit.',
  ),
  allowed_countries: codes(/^[A-Z]{2}$/, 'must be two capital letters (ISO 3166)', 250).meta({
    description: 'Countries (ISO 3166) whose merchants may be paid; empty: all.',
  }),
  blocked_merchant_categories: codes(/^[0-9]{4}$/, 'must be four digits (ISO 18245)', 1_000).meta({
    description: 'Merchant categories (ISO 18245) that are declined; empty: none.',
  }),
};
const channels = {
  online: z.boolean(),
  pos: z.boolean(),
  atm: z.boolean(),
  contactless: z.boolean(),
};

/** The security settings in the examples of the API reference. */
export const exampleSecurity = {
  channels: { online: true, pos: true, atm: false, contactless: true },
  per_transaction_limit_minor: 5_000_000,
  daily_limit_minor: 20_000_000,
  allowed_countries: ['NG', 'GH'],
  blocked_merchant_categories: ['7995'],
};

/** The body of `PUT /cards/{id}/security`. Every field is required, so that a forgotten limit does not open the card. */
export const cardSecurityBody = z
  .strictObject({ channels: z.strictObject(channels), ...settings })
  .meta({ id: 'NewCardSecurity' });

/** The security settings of a card in answers. */
export const cardSecurityResource = z
  .object({ channels: z.object(channels), ...settings })
  .meta({ id: 'CardSecurity', example: exampleSecurity });

const exampleAuthorization = {
  id: 'aut_5jb6zk3t1v9w8x7y6hqnr4mp2d',
  card_id: 'crd_01kaj2v6wte8v9kcz0t3yd4m5n',
  status: 'cleared',
  approved: true,
  code: 'approved',
  amount_minor: 5_000,
  held_minor: 0,
  cleared_minor: 4_200,
  currency: 'NGN',
  channel: 'pos',
  merchant: { name: 'Mama Put', category: '5812', country: 'NG' },
  attention: null,
  expires_at: '2026-11-28T09:30:00.000Z',
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T18:00:00.000Z',
};

/** An authorization in answers. */
export const cardAuthorizationResource = z
  .object({
    id: idSchema('authorization'),
    card_id: idSchema('card'),
    status: z.enum(['approved', 'declined', 'cleared', 'reversed', 'expired']),
    approved: z.boolean().meta({ description: 'The decision. Later events do not change it.' }),
    code: z.string().meta({ description: 'The reason for the decision.' }),
    amount_minor: amountMinor('The requested amount, in minor units of the currency.'),
    held_minor: amountMinor('Amount in kobo that is still held.'),
    cleared_minor: amountMinor(
      'Amount in kobo that was taken. It may be less or more than the requested amount.',
    ),
    currency: z.string(),
    channel: z.enum(['online', 'pos', 'atm', 'contactless']).nullable(),
    merchant: z
      .object({
        name: z.string(),
        category: z.string().meta({ description: 'Merchant category code, ISO 18245.' }),
        country: z.string().meta({ description: 'Country code, ISO 3166.' }),
      })
      .nullable(),
    attention: z
      .object({ since: timestamp('When the attention began.'), reason: z.string() })
      .nullable()
      .meta({
        description: 'Time and reason of the call for one of our operators; null without one.',
      }),
    expires_at: timestamp('When the hold ends if the issuer reports nothing.').nullable(),
    created_at: timestamp('When the authorization was decided.'),
    updated_at: timestamp('When the authorization last changed.'),
  })
  .meta({ id: 'CardAuthorization', example: exampleAuthorization });
