import { z } from 'zod';
import {
  amountMinor,
  withDaysInOrder,
  daysQuery,
  pageQuery,
  timestamp,
} from '../../platform/http/wire.js';

/** The kinds of resources whose postings move a wallet, by the prefix of their ids. */
const PREFIXES = {
  transfer: 'trf',
  charge: 'chg',
  refund: 'ref',
  dispute: 'dsp',
  deposit: 'dep',
  bill_payment: 'bil',
  card_funding: 'cop',
  card_payment: 'aut',
  card: 'crd',
} as const;

const CREDIT = 'credit';

/** The types of entries. */
export const ENTRY_TYPES = [
  ...(Object.keys(PREFIXES) as (keyof typeof PREFIXES)[]),
  CREDIT,
  'other',
] as const;

/** The type of an entry. */
export type EntryType = (typeof ENTRY_TYPES)[number];

const beginnings = Object.values(PREFIXES).map((prefix) => `${prefix}_`);

/** The pattern of the ids of postings of this type. */
export function postingIds(type: EntryType): RegExp {
  if (type === CREDIT) return /^credit\//;
  if (type === 'other') return new RegExp(`^(?!credit/|${beginnings.join('|')})`);
  return new RegExp(`^${PREFIXES[type]}_`);
}

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleBalance = {
  available_minor: 8_749_000,
  held_minor: 251_000,
  owed_minor: 0,
  currency: 'NGN',
  as_of: '2026-11-21T09:30:00.000Z',
};

/** The balance of a wallet, as tenants get it. */
export const balanceResource = z
  .object({
    available_minor: amountMinor('The amount that can be spent.'),
    held_minor: amountMinor('The amount that unfinished payments hold.'),
    owed_minor: amountMinor(
      'The amount that you owe, because a payment was executed that the wallet could not cover. Later credits pay it first.',
    ),
    currency: z.literal('NGN'),
    as_of: timestamp('When the balance was read.'),
  })
  .meta({ id: 'Balance', description: 'The balance of your wallet.', example: exampleBalance });

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleEntry = {
  id: 'trf_01kaj2v6wte8v9kcz0t3yd4m5n/hold',
  type: 'transfer',
  movement: 'hold',
  amount_minor: -251_000,
  currency: 'NGN',
  resource: 'trf_01kaj2v6wte8v9kcz0t3yd4m5n',
  created_at: '2026-11-21T09:30:00.000Z',
};

/** An entry of the statement, as tenants get it. */
export const entryResource = z
  .object({
    id: z.string().meta({ description: 'The posting: the resource and its step.' }),
    type: z.enum(ENTRY_TYPES).meta({ description: 'The kind of resource that moved the money.' }),
    movement: z.string().meta({
      description:
        'The step that moved the money, for example `hold` (taken from the available amount until the outcome is known), ' +
        '`release` (given back), `capture` (the rest of a hold that was larger than the payment), `reversal`, `credit`, `fee`.',
    }),
    amount_minor: z.int().meta({
      description: 'The change of the available amount. Negative: it became less. Never zero.',
    }),
    currency: z.literal('NGN'),
    resource: z.string().nullable().meta({
      description:
        'Id of the resource. Null for a credit from outside, whose `id` ends in its reference.',
    }),
    created_at: timestamp('When the money moved.'),
  })
  .meta({ id: 'BalanceEntry', description: 'A movement of your wallet.', example: exampleEntry });

/** The query of GET /balance/entries. */
export const listEntriesQuery = withDaysInOrder(
  z.strictObject({
    ...pageQuery(),
    type: z
      .enum(ENTRY_TYPES)
      .optional()
      .meta({ description: 'Only entries of this kind of resource.' }),
    ...daysQuery('the movement'),
  }),
);
