import { operation } from '../../platform/http/operation.js';
import { keyBody } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { CARDS_TAG as tag } from '../cards/index.js';
import {
  cardDisputeResource,
  createCardDisputeBody,
  exampleCardDispute,
  listCardDisputesQuery,
} from './schema.js';

const params = { id: idSchema('cardDispute') };
const { amount_minor, reason, explanation, transaction_reference } = exampleCardDispute;
const pending = { ...exampleCardDispute, status: 'pending' as const, credited_minor: 0 };

/** `POST /cards/authorizations/{id}/disputes`. */
export const createCardDispute = operation({
  id: 'createCardDispute',
  tag,
  method: 'post',
  path: '/cards/authorizations/{id}/disputes',
  summary: 'Dispute a card payment',
  description:
    'Demands money back that a payment has taken, in full or in part. The issuer pursues the dispute against the ' +
    'merchant; that takes weeks. It may give a provisional credit meanwhile, which it takes back if the dispute is lost. ' +
    'What it gives goes to the card or the wallet, whichever paid, the last payer first.',
  feature: 'cards',
  params: { id: idSchema('authorization') },
  body: createCardDisputeBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: cardDisputeResource },
  refusals: ['invalid_state', 'duplicate_reference'],
  examples: {
    body: { amount_minor, reason, explanation, transaction_reference },
    data: pending,
  },
  links: { getCardDispute: 'id' },
});

/** `GET /cards/disputes`. */
export const listCardDisputes = operation({
  id: 'listCardDisputes',
  tag,
  method: 'get',
  path: '/cards/disputes',
  summary: 'List the disputes of card payments, newest first',
  feature: 'cards',
  query: listCardDisputesQuery,
  answer: { status: 200, data: cardDisputeResource, list: true },
});

/** `GET /cards/disputes/{id}`. */
export const getCardDispute = operation({
  id: 'getCardDispute',
  tag,
  method: 'get',
  path: '/cards/disputes/{id}',
  summary: 'Get a dispute of a card payment',
  feature: 'cards',
  params,
  answer: { status: 200, data: cardDisputeResource },
});

/** `POST /cards/disputes/{id}/cancel`. */
export const cancelCardDispute = operation({
  id: 'cancelCardDispute',
  tag,
  method: 'post',
  path: '/cards/disputes/{id}/cancel',
  summary: 'Cancel an open dispute of a card payment',
  description:
    'Asks the issuer to withdraw the dispute. It is `cancelled` when the issuer has; a provisional credit is taken back. ' +
    'An issuer may refuse: then `cancellation` is `refused`, the event `card.dispute.cancellation_refused` says so, and the ' +
    'dispute goes on; another call, with another idempotency key or none, asks again. Repeated calls are safe.',
  feature: 'cards',
  params,
  body: keyBody,
  idempotent: true,
  safe: true,
  answer: { status: 200, data: cardDisputeResource },
  refusals: ['invalid_state'],
  examples: { body: {} },
});

/** The operations of this capability, for the router and the API reference. */
export const cardDisputeOperations = {
  createCardDispute,
  listCardDisputes,
  getCardDispute,
  cancelCardDispute,
};
