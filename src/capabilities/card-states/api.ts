import { operation } from '../../platform/http/operation.js';
import { CARDS_TAG, cardParams } from '../cards/api.js';
import { cardOperationResource, cardResource, exampleOperation } from '../cards/schema.js';
import { cardStateChangeBody } from './schema.js';

const common = {
  tag: CARDS_TAG,
  method: 'post',
  feature: 'cards',
  params: cardParams,
  body: cardStateChangeBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: cardOperationResource },
  refusals: ['invalid_state'],
  links: { getCardOperation: 'operation_id' },
} as const;

const example = (type: 'lock' | 'unlock' | 'close') => ({
  ...exampleOperation,
  type,
  status: 'pending',
  amount_minor: null,
  transaction_reference: null,
  completed_at: null,
});

export const lockCard = operation({
  ...common,
  id: 'lockCard',
  path: '/cards/{id}/lock',
  summary: 'Lock a card',
  description:
    'From the answer on nothing is approved and nothing is funded. The issuer is told until it agrees; then the ' +
    'operation is `completed`. A later lock or unlock takes the place of one that is not (`superseded`).',
  examples: {
    body: { reason: 'reported as lost', request_id: 'req-1042' },
    data: { ...example('lock'), reason: 'reported as lost', request_id: 'req-1042' },
  },
});

export const unlockCard = operation({
  ...common,
  id: 'unlockCard',
  path: '/cards/{id}/unlock',
  summary: 'Unlock a card',
  description: 'The card stays locked until the issuer has confirmed that it is open.',
  // Of a card that is open already: done with the answer.
  examples: {
    body: {},
    data: {
      ...example('unlock'),
      status: 'completed',
      completed_at: exampleOperation.completed_at,
    },
  },
});

export const closeCard = operation({
  ...common,
  id: 'closeCard',
  path: '/cards/{id}/close',
  summary: 'Close a card for good',
  description:
    'Closed from the answer on. What is left of its balance goes back to the wallet as soon as nothing of it is held.',
  examples: {
    body: { reason: 'not needed any more' },
    data: { ...example('close'), reason: 'not needed any more' },
  },
});

export const cardStateOperations = { lockCard, unlockCard, closeCard };

/** What tenants are told of a card itself. */
export const cardStateEvents = {
  when: {
    'card.locked': 'a card is locked: nothing is approved or funded from then on',
    'card.unlocked': 'the issuer has confirmed that a card is open',
  },
  data: cardResource,
};
