import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { keyBody, pageQuery, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { PROVIDER_EVENT_STATUSES } from './event.js';

const exampleEvent = {
  id: 'pev_01kaj2v6wte8v9kcz0t3yd4m5n',
  card_id: 'crd_01kaj2v6wte8v9kcz0t3yd4m5n',
  provider: 'sandbox-bank',
  event: 'card.funded',
  data: {
    id: 'evt_01kaj2v6wte8v9kcz0t3yd4m5n',
    event: 'card.funded',
    data: { reference: 'cop_01kaj2v6wte8v9kcz0t3yd4m5n', amount_minor: 500_000 },
  },
  status: 'processed',
  received_at: '2026-11-21T09:30:00.000Z',
  processed_at: '2026-11-21T09:30:00.120Z',
};

/** A provider event of a card, as tenants get it. */
export const cardEventResource = z
  .object({
    id: idSchema('providerEvent'),
    card_id: idSchema('card').nullable(),
    provider: z.string(),
    event: z.string().meta({ description: 'Type of the event. It is the same for every issuer.' }),
    data: z.unknown().meta({
      description:
        'The issuer’s message, in its own format. A value that may be personal, such as a name or a number of an ' +
        'account, is replaced by its type: `<string>`.',
    }),
    status: z.enum(PROVIDER_EVENT_STATUSES).meta({
      description:
        '`processed`: the event was applied or changed nothing. `failed`: the event could not be applied; a replay ' +
        'may succeed.',
    }),
    received_at: timestamp('When the event was stored.'),
    processed_at: timestamp('When the event was first processed.').nullable(),
  })
  .meta({
    id: 'CardEvent',
    description: 'An event that an issuer has reported about a card.',
    example: exampleEvent,
  });

const exampleReplay = {
  id: 'rpl_01kaj2v6wte8v9kcz0t3yd4m5n',
  event_id: exampleEvent.id,
  status: 'completed',
  failure: null,
  created_at: '2026-11-21T10:00:00.000Z',
  completed_at: '2026-11-21T10:00:00.090Z',
};

/** A replay of a provider event, as tenants get it. */
export const replayResource = z
  .object({
    id: idSchema('providerEventReplay'),
    event_id: idSchema('providerEvent'),
    status: z.enum(['pending', 'completed', 'failed']),
    failure: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the replay could not apply the event.' }),
    created_at: timestamp('When the replay was accepted.'),
    completed_at: timestamp('When the replay ended.').nullable(),
  })
  .meta({
    id: 'CardEventReplay',
    description: 'A repeated application of a card event.',
    example: exampleReplay,
  });

const tag = 'Card events';

/** Lists the provider events of a tenant's cards. */
export const listCardEvents = operation({
  id: 'listCardEvents',
  tag,
  method: 'get',
  path: '/webhooks/cards/events/{card_id}',
  summary: 'List a card’s events',
  description:
    'Events of the card’s issuer, newest first. This list has a rate limit of its own in addition to that of your ' +
    'plan: use webhooks to follow changes.',
  feature: 'cards',
  params: { card_id: idSchema('card') },
  query: z.strictObject(pageQuery()),
  answer: { status: 200, data: cardEventResource, list: true },
});

/** Applies a stored provider event again. */
export const replayCardEvent = operation({
  id: 'replayCardEvent',
  tag,
  method: 'post',
  path: '/webhooks/cards/events/{event_id}/replay',
  summary: 'Replay a card event',
  description:
    'Applies the stored event again. Earlier effects are not repeated; an event that could not be applied before is ' +
    'tried again.',
  feature: 'cards',
  params: { event_id: idSchema('providerEvent') },
  body: keyBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: replayResource },
  examples: { body: {}, data: { ...exampleReplay, status: 'pending', completed_at: null } },
});

/** Shows a replay. */
export const getCardEventReplay = operation({
  id: 'getCardEventReplay',
  tag,
  method: 'get',
  path: '/webhooks/cards/events/{event_id}/replays/{id}',
  summary: 'Get an event replay',
  feature: 'cards',
  params: { event_id: idSchema('providerEvent'), id: idSchema('providerEventReplay') },
  answer: { status: 200, data: replayResource },
});

/** The operations on provider events for tenants. */
export const cardEventOperations = { listCardEvents, replayCardEvent, getCardEventReplay };

/** Far above any provider's message. Its sender has no key yet, so many at once must not fill the memory. */
const MAX_MESSAGE_BYTES = 64 * 1024;

/** Receives messages of transfer and payment providers. */
export const receivePaymentCallback = operation({
  id: 'receivePaymentCallback',
  tag: 'Provider callbacks',
  method: 'post',
  path: '/webhooks/payments/{provider}',
  summary: 'Receive a payment provider’s message',
  description:
    'For providers only. Authenticated by the provider’s signature over the raw body. An event is stored ' +
    'once, acknowledged, and then applied.',
  access: 'provider',
  params: { provider: z.string().meta({ example: 'sandbox-bank' }) },
  maxBodyBytes: MAX_MESSAGE_BYTES,
  answer: { status: 200, data: z.object({ received: z.literal(true) }) },
  refusals: ['invalid_signature'],
});

/** Receives messages of card issuers. */
export const receiveCardEvent = operation({
  id: 'receiveCardEvent',
  tag: 'Provider callbacks',
  method: 'post',
  path: '/webhooks/cards/{provider}',
  summary: 'Receive a card issuer’s message',
  description:
    'For issuers only. Authenticated by the issuer’s signature over the raw body. An event is stored once, ' +
    'acknowledged, and then applied. An authorization request is answered with the decision, in the issuer’s format.',
  access: 'provider',
  params: { provider: z.string().meta({ example: 'sandbox-bank' }) },
  maxBodyBytes: MAX_MESSAGE_BYTES,
  answer: { status: 200, data: z.object({ received: z.literal(true) }) },
  refusals: ['invalid_signature'],
});
