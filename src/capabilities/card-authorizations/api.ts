import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { amountMinor, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { CARDS_TAG as tag, cardParams as params, offsetListQuery } from '../cards/api.js';
import { cardSecurityBody, cardSecurityResource, exampleSecurity } from './schema.js';

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

export const getCardSecurity = operation({
  id: 'getCardSecurity',
  tag,
  method: 'get',
  path: '/cards/{id}/security',
  summary: "Get a card's security settings",
  feature: 'cards',
  params,
  answer: { status: 200, data: cardSecurityResource },
});

export const putCardSecurity = operation({
  id: 'putCardSecurity',
  tag,
  method: 'put',
  path: '/cards/{id}/security',
  summary: 'Set what may be paid with a card',
  description:
    'All of it at once. It holds for every payment that is decided from the answer on; what was approved before stays ' +
    'approved. Needs a key of level admin.',
  access: 'admin',
  feature: 'cards',
  params,
  body: cardSecurityBody,
  answer: { status: 200, data: cardSecurityResource },
  refusals: ['invalid_state'],
  examples: { body: exampleSecurity, data: exampleSecurity },
});

export const listCardAuthorizations = operation({
  id: 'listCardAuthorizations',
  tag,
  method: 'get',
  path: '/cards/{id}/authorizations',
  summary: 'Payments with a card, approved and declined, newest first',
  feature: 'cards',
  params,
  query: offsetListQuery,
  answer: { status: 200, data: cardAuthorizationResource, list: true },
});

export const authorizationOperations = {
  getCardSecurity,
  putCardSecurity,
  listCardAuthorizations,
};
