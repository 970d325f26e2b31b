import { operation } from '../../platform/http/operation.js';
import { CARDS_TAG as tag, cardParams as params, offsetListQuery } from '../cards/api.js';
import {
  cardSecurityBody,
  cardSecurityResource,
  exampleSecurity,
  cardAuthorizationResource,
} from './schema.js';

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
