import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { offsetQuery } from '../../platform/http/wire.js';
import { timelineEntryResource } from '../../core/instructions/api-fields.js';
import {
  CARDS_TAG as tag,
  cardParams as params,
  offsetListQuery,
  cardSecurityBody,
  cardSecurityResource,
  EXAMPLE_CARD,
  exampleSecurity,
} from '../cards/index.js';
import { idSchema } from '../../shared/ids.js';
import { cardAuthorizationResource, listAuthorizationsQuery } from './schema.js';

const authorizationParams = { id: idSchema('authorization') };

/** `GET /cards/{card_id}/security`. */
export const getCardSecurity = operation({
  id: 'getCardSecurity',
  tag,
  method: 'get',
  path: '/cards/{card_id}/security',
  summary: "Get a card's security settings",
  feature: 'cards',
  params,
  answer: { status: 200, data: cardSecurityResource },
});

/** `PUT /cards/{card_id}/security`. */
export const putCardSecurity = operation({
  id: 'putCardSecurity',
  tag,
  method: 'put',
  path: '/cards/{card_id}/security',
  summary: "Set a card's security settings",
  description:
    'Replaces all settings. They apply to every payment that is decided after the answer; earlier approvals stay. Needs ' +
    'a key of level admin.',
  access: 'admin',
  feature: 'cards',
  params,
  body: cardSecurityBody,
  answer: { status: 200, data: cardSecurityResource },
  refusals: ['invalid_state'],
  examples: { body: exampleSecurity, data: { card_id: EXAMPLE_CARD, ...exampleSecurity } },
});

/** `GET /cards/{card_id}/authorizations`. */
export const listCardAuthorizations = operation({
  id: 'listCardAuthorizations',
  tag,
  method: 'get',
  path: '/cards/{card_id}/authorizations',
  summary: 'List the authorizations of a card, newest first',
  feature: 'cards',
  params,
  query: offsetListQuery,
  answer: { status: 200, data: cardAuthorizationResource, list: true },
});

/** `GET /cards/authorizations`. */
export const listAuthorizations = operation({
  id: 'listAuthorizations',
  tag,
  method: 'get',
  path: '/cards/authorizations',
  summary: 'List the authorizations of all cards, newest first',
  feature: 'cards',
  query: listAuthorizationsQuery,
  answer: { status: 200, data: cardAuthorizationResource, list: true },
});

/** `GET /cards/authorizations/{id}`. */
export const getAuthorization = operation({
  id: 'getAuthorization',
  tag,
  method: 'get',
  path: '/cards/authorizations/{id}',
  summary: 'Get an authorization',
  feature: 'cards',
  params: authorizationParams,
  answer: { status: 200, data: cardAuthorizationResource },
});

/** `GET /cards/authorizations/{id}/timeline`. */
export const getAuthorizationTimeline = operation({
  id: 'getAuthorizationTimeline',
  tag,
  method: 'get',
  path: '/cards/authorizations/{id}/timeline',
  summary: 'Get the timeline of an authorization',
  description:
    'Every decision, every report of the issuer and every delivered webhook in order, with its time and its actor.',
  feature: 'cards',
  params: authorizationParams,
  query: z.strictObject(offsetQuery(100)),
  answer: { status: 200, data: timelineEntryResource, list: true },
});

/** The operations of this capability, for the router and the API reference. */
export const cardAuthorizationOperations = {
  getCardSecurity,
  putCardSecurity,
  listCardAuthorizations,
  listAuthorizations,
  getAuthorization,
  getAuthorizationTimeline,
};
