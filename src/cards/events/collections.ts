import { attentionIndex, dueIndex } from '../../database/indexes.js';
import type { CollectionSpec } from '../../database/migrations.js';
import { CARD_EVENT_STATUSES } from './event.js';

const amount = { bsonType: ['long', 'null'] };

export const cardEventsCollection: CollectionSpec = {
  name: 'card_events',
  validator: {
    bsonType: 'object',
    required: ['tenant', 'card', 'provider', 'dedupe', 'event', 'state', 'status', 'received_at'],
    properties: {
      tenant: { bsonType: ['string', 'null'] },
      card: { bsonType: ['string', 'null'] },
      status: { enum: [...CARD_EVENT_STATUSES] },
      state: {
        bsonType: 'object',
        properties: { state: { bsonType: 'object', properties: { amountMinor: amount } } },
      },
      received_at: { bsonType: 'date' },
    },
  },
  indexes: [
    { key: { dedupe: 1 }, unique: true },
    { key: { card: 1, _id: -1 } },
    dueIndex,
    attentionIndex,
  ],
};

export const cardEventReplaysCollection: CollectionSpec = {
  name: 'card_event_replays',
  validator: {
    bsonType: 'object',
    required: ['tenant', 'event', 'status', 'created_at'],
    properties: {
      tenant: { bsonType: 'string' },
      event: { bsonType: 'string' },
      status: { enum: ['pending', 'completed', 'failed'] },
      created_at: { bsonType: 'date' },
    },
  },
  indexes: [{ key: { event: 1 } }, dueIndex],
};
