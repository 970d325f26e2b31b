import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { CARD_OPERATION_TYPES } from './card-operation.js';

const long = { bsonType: 'long' };

export const cardsCollection: CollectionSpec = {
  name: 'cards',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'available_minor', 'held_minor', 'open_holds'],
    properties: {
      tenant_id: { bsonType: 'string' },
      status: { enum: ['pending', 'active', 'locked', 'failed', 'expired', 'closed'] },
      available_minor: { ...long, minimum: 0 },
      held_minor: { ...long, minimum: 0 },
      open_holds: { bsonType: 'int', minimum: 0 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, created_at: -1, _id: -1 } },
    // What the issuer calls it, which is all that its messages say.
    {
      key: { provider: 1, 'issued.issuer_card_id': 1 },
      unique: true,
      partialFilterExpression: { 'issued.issuer_card_id': { $type: 'string' } },
    },
    { key: { status: 1, 'issued.expiry_year': 1, 'issued.expiry_month': 1 } },
  ],
};

export const cardOperationsCollection: CollectionSpec = {
  name: 'card_operations',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'card_id', 'type', 'version', 'status', 'reference', 'submissions'],
    properties: {
      tenant_id: { bsonType: 'string' },
      card_id: { bsonType: 'string' },
      type: { enum: [...CARD_OPERATION_TYPES] },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      reference: { bsonType: 'string' },
      amount_minor: { bsonType: ['long', 'null'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    { key: { card_id: 1, created_at: -1, _id: -1 } },
    {
      name: 'fundings',
      key: { card_id: 1, type: 1, created_at: -1, _id: -1 },
    },
    nextCheckIndex,
    attentionIndex,
  ],
};

export const cardAuthorizationsCollection: CollectionSpec = {
  name: 'card_authorizations',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'card_id', 'token', 'version', 'status', 'amount_minor', 'held_minor'],
    properties: {
      tenant_id: { bsonType: 'string' },
      card_id: { bsonType: 'string' },
      status: { enum: ['approved', 'declined', 'cleared', 'reversed', 'expired'] },
      amount_minor: { ...long, minimum: 0 },
      held_minor: { ...long, minimum: 0 },
      cleared_minor: { ...long, minimum: 0 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [{ key: { card_id: 1, created_at: -1, _id: -1 } }, nextCheckIndex, attentionIndex],
};
