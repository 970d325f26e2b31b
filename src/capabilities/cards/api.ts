import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { amountMinor, offsetQuery, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import {
  attentionField,
  failureField,
  instructionStatus,
  timelineEntryResource,
} from '../../core/instructions/api-fields.js';
import { createCardBody } from './schema.js';
import { SHOWN_TYPES } from './card-operation.js';

/** What is common to all operations on cards. */
export const CARDS_TAG = 'Cards';
export const cardParams = { id: idSchema('card') };
const operationParams = { ...cardParams, operation_id: idSchema('cardOperation') };
export const offsetListQuery = z.strictObject(offsetQuery());

const exampleCard = {
  id: 'crd_01kaj2v6wte8v9kcz0t3yd4m5n',
  customer_id: 'customer-7',
  type: 'virtual',
  funding: 'prepaid',
  name: 'Ada Obi',
  brand: 'verve',
  last4: '4242',
  expiry_month: 11,
  expiry_year: 2029,
  currency: 'NGN',
  status: 'active',
  provider: 'sandbox-bank',
  failure: null,
  metadata: { team: 'sales' },
  created_at: '2026-11-21T09:30:00.000Z',
};

const toldByIssuer = 'Once the issuer has issued it.';

export const cardResource = z
  .object({
    id: idSchema('card'),
    customer_id: z.string().meta({ description: 'Your own id of who holds it.' }),
    type: z.enum(['virtual', 'physical']),
    funding: z.enum(['prepaid', 'jit']).meta({
      description:
        '`prepaid` spends what it was funded with; `jit` does so too, and a payment that this does not cover is held in the wallet, all of it.',
    }),
    name: z.string().nullable().meta({ description: 'To be printed on it.' }),
    brand: z.string().nullable().meta({ description: toldByIssuer }),
    last4: z.string().nullable().meta({ description: toldByIssuer }),
    expiry_month: z.int().min(1).max(12).nullable().meta({ description: toldByIssuer }),
    expiry_year: z.int().nullable().meta({ description: toldByIssuer }),
    currency: z.literal('NGN'),
    status: z.enum(['pending', 'active', 'locked', 'failed', 'expired', 'closed']),
    provider: z.string(),
    failure: failureField,
    metadata: z.record(z.string(), z.unknown()),
    created_at: timestamp('When it was accepted.'),
  })
  .meta({ id: 'Card', example: exampleCard });

export const balanceResource = z
  .object({
    card_id: idSchema('card'),
    available_minor: amountMinor('Kobo that can be spent, less what authorizations hold.'),
    currency: z.literal('NGN'),
    as_of: timestamp('When it was read.'),
  })
  .meta({
    id: 'CardBalance',
    example: {
      card_id: exampleCard.id,
      available_minor: 500_000,
      currency: 'NGN',
      as_of: '2026-11-21T09:31:00.000Z',
    },
  });

export const exampleOperation = {
  id: 'cop_01kaj2v6wte8v9kcz0t3yd4m5n',
  card_id: exampleCard.id,
  type: 'fund',
  status: 'completed',
  amount_minor: 500_000,
  currency: 'NGN',
  transaction_reference: 'top-up-7',
  reason: null,
  request_id: null,
  metadata: {},
  failure: null,
  attention: null,
  created_at: '2026-11-21T09:30:30.000Z',
  completed_at: '2026-11-21T09:30:31.000Z',
};

export const cardOperationResource = z
  .object({
    id: idSchema('cardOperation'),
    card_id: idSchema('card'),
    type: z.enum(SHOWN_TYPES),
    status: instructionStatus,
    amount_minor: amountMinor('Kobo; null where no money moves.').nullable(),
    currency: z.literal('NGN'),
    transaction_reference: z.string().nullable(),
    reason: z.string().nullable(),
    request_id: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    failure: failureField,
    attention: attentionField,
    created_at: timestamp('When it was accepted.'),
    completed_at: timestamp('When the issuer’s word that it is done was booked.').nullable(),
  })
  .meta({ id: 'CardOperation', example: exampleOperation });

export const createCard = operation({
  id: 'createCard',
  tag: CARDS_TAG,
  method: 'post',
  path: '/cards',
  summary: 'Create a card',
  description:
    'The card is `pending` until the issuer has issued it (`active`) or refused it (`failed`).',
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
  links: { getCard: 'id', getCardBalance: 'id' },
});

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

export const getCard = operation({
  id: 'getCard',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{id}',
  summary: 'Get a card',
  feature: 'cards',
  params: cardParams,
  answer: { status: 200, data: cardResource },
});

export const getCardBalance = operation({
  id: 'getCardBalance',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{id}/balance',
  summary: "Get a card's balance",
  feature: 'cards',
  params: cardParams,
  answer: { status: 200, data: balanceResource },
});

export const getCardOperation = operation({
  id: 'getCardOperation',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{id}/operations/{operation_id}',
  summary: 'Get an operation on a card',
  feature: 'cards',
  params: operationParams,
  answer: { status: 200, data: cardOperationResource },
});

export const getCardOperationTimeline = operation({
  id: 'getCardOperationTimeline',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{id}/operations/{operation_id}/timeline',
  summary: 'Every step of an operation, in order',
  description: 'What happened, when, by whom, and under which request of the issuer’s.',
  feature: 'cards',
  params: operationParams,
  query: z.strictObject(offsetQuery(100)),
  answer: { status: 200, data: timelineEntryResource, list: true },
});

export const listCardFundings = operation({
  id: 'listCardFundings',
  tag: CARDS_TAG,
  method: 'get',
  path: '/cards/{id}/funding-history',
  summary: 'List what a card was funded with, newest first',
  description: 'Its operations `fund`, `jit_fund` and `auto_reload`, whatever became of them.',
  feature: 'cards',
  params: cardParams,
  query: offsetListQuery,
  answer: { status: 200, data: cardOperationResource, list: true },
});

export const cardOperations = {
  createCard,
  listCards,
  getCard,
  getCardBalance,
  getCardOperation,
  getCardOperationTimeline,
  listCardFundings,
};
