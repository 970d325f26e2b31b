import { operation } from '../../platform/http/operation.js';
import { CARDS_TAG, cardParams, cardOperationResource, exampleOperation } from '../cards/index.js';
import { cardClosingBody, cardStateChangeBody } from './schema.js';

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

/** `POST /cards/{card_id}/lock`. */
export const lockCard = operation({
  ...common,
  id: 'lockCard',
  onlyProtects: true,
  path: '/cards/{card_id}/lock',
  summary: 'Lock a card',
  description:
    'The lock takes effect with the answer: no payment is approved and no funding is accepted. The operation is ' +
    '`completed` when the issuer has confirmed the lock. A later lock or unlock replaces an open one (`superseded`).',
  examples: {
    body: { reason: 'reported as lost', request_id: 'req-1042' },
    data: { ...example('lock'), reason: 'reported as lost', request_id: 'req-1042' },
  },
});

/** `POST /cards/{card_id}/unlock`. */
export const unlockCard = operation({
  ...common,
  id: 'unlockCard',
  path: '/cards/{card_id}/unlock',
  summary: 'Unlock a card',
  description: 'The card stays locked until the issuer has confirmed that it is open.',
  // The example is of a card that is open already: the operation is completed at once.
  examples: {
    body: {},
    data: {
      ...example('unlock'),
      status: 'completed',
      completed_at: exampleOperation.completed_at,
    },
  },
});

/** `POST /cards/{card_id}/close`. */
export const closeCard = operation({
  ...common,
  body: cardClosingBody,
  refusals: ['invalid_state', 'duplicate_reference'],
  id: 'closeCard',
  onlyProtects: true,
  path: '/cards/{card_id}/close',
  summary: 'Close a card',
  description:
    'The closing takes effect with the answer. As soon as no authorization holds any of it, the balance of the card is ' +
    'returned to the wallet. If the issuer holds the balances of cards, an operation `unload` takes it back from there ' +
    'first, and the wallet is credited when the issuer confirms it.',
  examples: {
    body: { reason: 'not needed any more' },
    data: { ...example('close'), reason: 'not needed any more' },
  },
});

/** The operations of this capability, for the router and the API reference. */
export const cardStateOperations = { lockCard, unlockCard, closeCard };
