import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { amountMinor } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { attentionField } from '../../core/instructions/api-fields.js';
import { cardOperationResource, cardParams, CARDS_TAG, exampleOperation } from '../cards/api.js';
import { autoReloadBody, fundBody } from './schema.js';

const exampleBody = { amount_minor: exampleOperation.amount_minor, currency: 'NGN' };
const example = { ...exampleOperation, transaction_reference: null };

const exampleSettings = {
  enabled: true,
  threshold_minor: 100_000,
  amount_minor: 500_000,
  daily_cap_minor: 2_000_000,
};

export const autoReloadResource = z
  .object({
    card_id: idSchema('card'),
    enabled: z.boolean(),
    threshold_minor: amountMinor('Kobo; null before the settings are put.').nullable(),
    amount_minor: amountMinor('Kobo of one reload.').nullable(),
    daily_cap_minor: amountMinor('Kobo of one day, Africa/Lagos.').nullable(),
    used_today_minor: amountMinor('Kobo that reloads have taken today.'),
    operation_id: idSchema('cardOperation')
      .nullable()
      .meta({ description: 'The reload that is under way.' }),
    refusals: z.int().min(0).meta({ description: 'Reloads refused in a row.' }),
    attention: attentionField.meta({
      description: 'Why it is not tried any more until the settings are put again.',
    }),
  })
  .meta({
    id: 'CardAutoReload',
    example: {
      card_id: exampleOperation.card_id,
      ...exampleSettings,
      used_today_minor: 500_000,
      operation_id: null,
      refusals: 0,
      attention: null,
    },
  });

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
