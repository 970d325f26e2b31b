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
  per_transaction_limit_minor: limit('Kobo that one payment may be; null: no such limit.'),
  daily_limit_minor: limit(
    'Kobo that may be approved on one calendar day in Africa/Lagos; null: no such limit.',
  ),
  allowed_countries: codes(/^[A-Z]{2}$/, 'must be two capital letters (ISO 3166)', 250).meta({
    description: 'Where the merchant may be, ISO 3166; empty: anywhere.',
  }),
  blocked_merchant_categories: codes(/^[0-9]{4}$/, 'must be four digits (ISO 18245)', 1_000).meta({
    description: 'ISO 18245; empty: none.',
  }),
};
const channels = {
  online: z.boolean(),
  pos: z.boolean(),
  atm: z.boolean(),
  contactless: z.boolean(),
};

export const exampleSecurity = {
  channels: { online: true, pos: true, atm: false, contactless: true },
  per_transaction_limit_minor: 5_000_000,
  daily_limit_minor: 20_000_000,
  allowed_countries: ['NG', 'GH'],
  blocked_merchant_categories: ['7995'],
};

/** Whole, as PUT has it: what is left out by mistake must not open a card. */
export const cardSecurityBody = z
  .strictObject({ channels: z.strictObject(channels), ...settings })
  .meta({ id: 'NewCardSecurity' });

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

export const cardAuthorizationResource = z
  .object({
    id: idSchema('authorization'),
    card_id: idSchema('card'),
    status: z.enum(['approved', 'declined', 'cleared', 'reversed', 'expired']),
    approved: z.boolean().meta({ description: 'What was decided, whatever became of it.' }),
    code: z.string().meta({ description: 'Why it was decided so.' }),
    amount_minor: amountMinor('What was asked for, in minor units of the currency.'),
    held_minor: amountMinor('Kobo that are still held for it.'),
    cleared_minor: amountMinor('Kobo that were taken for it, which may be less or more.'),
    currency: z.string(),
    channel: z.enum(['online', 'pos', 'atm', 'contactless']).nullable(),
    merchant: z
      .object({
        name: z.string(),
        category: z.string().meta({ description: 'ISO 18245.' }),
        country: z.string().meta({ description: 'ISO 3166.' }),
      })
      .nullable(),
    attention: z
      .object({ since: timestamp('Since when.'), reason: z.string() })
      .nullable()
      .meta({ description: 'Why somebody should look at it.' }),
    expires_at: timestamp('When its hold ends if nothing is heard of it.').nullable(),
    created_at: timestamp('When it was decided.'),
    updated_at: timestamp('Its last change.'),
  })
  .meta({ id: 'CardAuthorization', example: exampleAuthorization });
