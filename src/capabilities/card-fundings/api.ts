import { operation } from '../../platform/http/operation.js';
import { cardParams, CARDS_TAG } from '../cards/api.js';
import { cardOperationResource, exampleOperation } from '../cards/schema.js';
import { autoReloadBody, fundBody, exampleSettings, autoReloadResource } from './schema.js';

const exampleBody = { amount_minor: exampleOperation.amount_minor, currency: 'NGN' };
const example = { ...exampleOperation, transaction_reference: null };

const refusals = ['insufficient_balance', 'duplicate_reference', 'invalid_state'] as const;
const accepted = { ...example, status: 'pending', completed_at: null };
const links = { getCardOperation: 'operation_id' };

export const fundCard = operation({
  id: 'fundCard',
  tag: CARDS_TAG,
  method: 'post',
  path: '/cards/{id}/fund',
  summary: 'Move money from the wallet to a card',
  description:
    'The amount is held in the wallet until the issuer has funded the card (`completed`) or definitely has not ' +
    '(`failed`, and the hold is back). Unknown fields of the body are kept as metadata.',
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

export const jitFundCard = operation({
  id: 'jitFundCard',
  tag: CARDS_TAG,
  method: 'post',
  path: '/cards/{id}/jit-fund',
  summary: 'Fund a card just in time',
  description:
    'Answers when the issuer has funded the card, or at the deadline (2 s). Then it has `failed` with ' +
    '`deadline_exceeded`, whatever comes later: the amount stays held until it is certain that nothing of it is on the ' +
    'card. Unknown fields of the body are kept as metadata.',
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

export const getCardAutoReload = operation({
  id: 'getCardAutoReload',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{id}/auto-reload',
  summary: 'Get auto-reload settings',
  feature: 'cards',
  params: cardParams,
  answer: { status: 200, data: autoReloadResource },
});

export const putCardAutoReload = operation({
  id: 'putCardAutoReload',
  tag: CARDS_TAG,
  method: 'put',
  path: '/cards/{id}/auto-reload',
  summary: 'Have a prepaid card reloaded when it falls below a threshold',
  description:
    'Each fall below the threshold is followed by one reload, within the daily cap. One that is refused, by the wallet or the issuer, ' +
    'is tried again by the next spending; after three in a row none is tried until the settings are put again.',
  feature: 'cards',
  params: cardParams,
  body: autoReloadBody,
  answer: { status: 200, data: autoReloadResource },
  refusals: ['invalid_state'],
  examples: { body: exampleSettings },
});

export const cardFundingOperations = {
  fundCard,
  jitFundCard,
  getCardAutoReload,
  putCardAutoReload,
};

export const cardOperationEvents = {
  when: {
    'card.operation.completed': 'a funding, a reload, a lock, an unlock or a closing is done',
    'card.operation.failed':
      'it is certain that such an operation was not done, it came too late, a newer one took its place, its card has expired, or an operator gave it up',
  },
  data: cardOperationResource,
};
