import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { PROVIDER_EVENT_STATUSES } from './event.js';

const amount = { bsonType: ['long', 'null'] };

export const providerEventsCollection: CollectionSpec = {
  name: 'provider_events',
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'card_id',
      'provider',
      'dedupe_key',
      'event',
      'state',
      'status',
      'received_at',
    ],
    properties: {
      tenant_id: { bsonType: ['string', 'null'] },
      card_id: { bsonType: ['string', 'null'] },
      status: { enum: [...PROVIDER_EVENT_STATUSES] },
      state: {
        bsonType: 'object',
        properties: { state: { bsonType: 'object', properties: { amountMinor: amount } } },
      },
      received_at: { bsonType: 'date' },
    },
  },
  indexes: [
    { key: { dedupe_key: 1 }, unique: true },
    { key: { card_id: 1, _id: -1 } },
    nextCheckIndex,
    attentionIndex,
  ],
};
