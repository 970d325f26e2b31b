import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { offsetQuery } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { timelineEntryResource } from '../../core/instructions/api-fields.js';
import {
  createCardBody,
  exampleCard,
  cardResource,
  balanceResource,
  cardOperationResource,
} from './schema.js';

/** The tag of all operations on cards in the API reference. */
export const CARDS_TAG = 'Cards';
/** The path parameter of operations on one card. */
export const cardParams = { card_id: idSchema('card') };
const operationParams = { ...cardParams, operation_id: idSchema('cardOperation') };
/** The query of lists that are paged by offset. */
export const offsetListQuery = z.strictObject(offsetQuery());

/** `POST /cards`. */
export const createCard = operation({
  id: 'createCard',
  tag: CARDS_TAG,
  method: 'post',
  path: '/cards',
  summary: 'Create a card',
  description:
    'The card is `pending` until the issuer has issued it (`active`) or rejected it (`failed`).',
  feature: 'cards',
  body: createCardBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: cardResource },
  examples: {
    body: {
      customer_id: exampleCard.customer_id,
      type: exampleCard.type,
      funding: exampleCard.funding,
      name: exampleCard.name,
      metadata: exampleCard.metadata,
    },
    data: {
      ...exampleCard,
      brand: null,
      last4: null,
      expiry_month: null,
      expiry_year: null,
      status: 'pending',
    },
  },
  links: { getCard: 'card_id', getCardBalance: 'card_id' },
});

/** `GET /cards`. */
export const listCards = operation({
  id: 'listCards',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards',
  summary: 'List cards, newest first',
  feature: 'cards',
  query: offsetListQuery,
  answer: { status: 200, data: cardResource, list: true },
});

/** `GET /cards/{card_id}`. */
export const getCard = operation({
  id: 'getCard',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{card_id}',
  summary: 'Get a card',
  feature: 'cards',
  params: cardParams,
  answer: { status: 200, data: cardResource },
});

/** `GET /cards/{card_id}/balance`. */
export const getCardBalance = operation({
  id: 'getCardBalance',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{card_id}/balance',
  summary: "Get a card's balance",
  feature: 'cards',
  params: cardParams,
  answer: { status: 200, data: balanceResource },
});

/** `GET /cards/{card_id}/operations/{operation_id}`. */
export const getCardOperation = operation({
  id: 'getCardOperation',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{card_id}/operations/{operation_id}',
  summary: 'Get a card operation',
  feature: 'cards',
  params: operationParams,
  answer: { status: 200, data: cardOperationResource },
});

/** `GET /cards/{card_id}/operations/{operation_id}/timeline`. */
export const getCardOperationTimeline = operation({
  id: 'getCardOperationTimeline',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{card_id}/operations/{operation_id}/timeline',
  summary: 'Get the timeline of an operation',
  description:
    'Every event of the operation in order, with its time, its actor and the id of the request to the issuer.',
  feature: 'cards',
  params: operationParams,
  query: z.strictObject(offsetQuery(100)),
  answer: { status: 200, data: timelineEntryResource, list: true },
});

/** `GET /cards/{card_id}/funding-history`. */
export const listCardFundings = operation({
  id: 'listCardFundings',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{card_id}/funding-history',
  summary: 'List the fundings of a card, newest first',
  description: 'The operations `fund`, `jit_fund` and `auto_reload` of the card, in every status.',
  feature: 'cards',
  params: cardParams,
  query: offsetListQuery,
  answer: { status: 200, data: cardOperationResource, list: true },
});

/** The operations of this capability, for the router and the API reference. */
export const cardOperations = {
  createCard,
  listCards,
  getCard,
  getCardBalance,
  getCardOperation,
  getCardOperationTimeline,
  listCardFundings,
};
