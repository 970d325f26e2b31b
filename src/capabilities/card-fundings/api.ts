import { operation } from '../../platform/http/operation.js';
import {
  autoReloadBody,
  cardParams,
  CARDS_TAG,
  cardOperationResource,
  exampleOperation,
  exampleSettings,
} from '../cards/index.js';
import { fundBody, autoReloadResource } from './schema.js';

const exampleBody = { amount_minor: exampleOperation.amount_minor, currency: 'NGN' };
const example = { ...exampleOperation, transaction_reference: null };

const refusals = ['insufficient_balance', 'duplicate_reference', 'invalid_state'] as const;
const accepted = { ...example, status: 'pending', completed_at: null };
const links = { getCardOperation: 'operation_id' };

/** `POST /cards/{card_id}/fund`. */
export const fundCard = operation({
  id: 'fundCard',
  tag: CARDS_TAG,
  method: 'post',
  path: '/cards/{card_id}/fund',
  summary: 'Fund a card',
  description:
    'The amount is held in the wallet until the issuer has funded the card (`completed`) or definitely has not ' +
    '(`failed`, and the hold is released). Unknown fields of the body are kept as metadata.',
  feature: 'cards',
  params: cardParams,
  body: fundBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: cardOperationResource },
  refusals,
  examples: { body: exampleBody, data: accepted },
  links,
});

/** `POST /cards/{card_id}/jit-fund`. */
export const jitFundCard = operation({
  id: 'jitFundCard',
  tag: CARDS_TAG,
  method: 'post',
  path: '/cards/{card_id}/jit-fund',
  summary: 'Fund a card just in time',
  description:
    'The response comes when the issuer has funded the card, or at the deadline (2 s). At the deadline the funding ' +
    'fails for good with `deadline_exceeded`. Its amount stays held until it is certain that nothing of it is on the card. Unknown fields of the body are kept as metadata.',
  feature: 'cards',
  params: cardParams,
  body: fundBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: cardOperationResource },
  refusals,
  examples: { body: exampleBody, data: { ...example, type: 'jit_fund' } },
  links,
});

/** `GET /cards/{card_id}/auto-reload`. */
export const getCardAutoReload = operation({
  id: 'getCardAutoReload',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{card_id}/auto-reload',
  summary: 'Get auto-reload settings',
  feature: 'cards',
  params: cardParams,
  answer: { status: 200, data: autoReloadResource },
});

/** `PUT /cards/{card_id}/auto-reload`. */
export const putCardAutoReload = operation({
  id: 'putCardAutoReload',
  tag: CARDS_TAG,
  method: 'put',
  path: '/cards/{card_id}/auto-reload',
  summary: 'Set auto-reload settings',
  description:
    'Each time the balance of a prepaid card falls below the threshold, one reload is made, within the daily cap. After a ' +
    'refusal by the wallet or the issuer, the next payment tries again. After three consecutive refusals no reload is tried ' +
    'until the settings are saved again.',
  feature: 'cards',
  params: cardParams,
  body: autoReloadBody,
  answer: { status: 200, data: autoReloadResource },
  refusals: ['invalid_state'],
  examples: { body: exampleSettings },
});

/** The operations of this capability, for the router and the API reference. */
export const cardFundingOperations = {
  fundCard,
  jitFundCard,
  getCardAutoReload,
  putCardAutoReload,
};
