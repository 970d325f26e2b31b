import { z } from 'zod';
import { MAX_AMOUNT_MINOR } from '../../platform/http/wire.js';

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
