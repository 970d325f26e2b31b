import type { CollectionSpec } from '../../platform/database/migrations.js';

/** A wallet as it is stored. */
export type WalletDocument = {
  _id: string;
  available_minor: bigint;
  receivable_minor: bigint;
  limit_day: string;
  limit_used_minor: bigint;
  version: bigint;
};
/** A posting as it is stored. */
export type PostingDocument = {
  _id: string;
  tenant_id: string;
  legs: { account: string; amount_minor: bigint }[];
  at: Date;
};
/** An idempotency key as it is stored. */
export type KeyDocument = {
  _id: string;
  tenant_id: string;
  fingerprint: string;
  status: number;
  body: string;
  resource_id: string | null;
  created_at: Date;
  expires_at: Date;
};

const long = { bsonType: 'long' };

/** One document for each tenant. */
export const walletsCollection: CollectionSpec = {
  name: 'wallets',
  validator: {
    bsonType: 'object',
    required: ['available_minor', 'receivable_minor', 'limit_day', 'limit_used_minor', 'version'],
    properties: {
      available_minor: { ...long, minimum: 0 },
      receivable_minor: { ...long, minimum: 0 },
      limit_used_minor: { ...long, minimum: 0 },
      limit_day: { bsonType: 'string' },
      version: long,
    },
  },
  indexes: [],
};

/** Immutable documents, one for each posting. */
export const postingsCollection: CollectionSpec = {
  name: 'postings',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'legs', 'at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      at: { bsonType: 'date' },
      legs: {
        bsonType: 'array',
        minItems: 2,
        items: {
          bsonType: 'object',
          required: ['account', 'amount_minor'],
          properties: { account: { bsonType: 'string' }, amount_minor: long },
        },
      },
    },
  },
  indexes: [],
};

/** Idempotency keys with their saved responses. MongoDB removes expired ones. */
export const idempotencyKeysCollection: CollectionSpec = {
  name: 'idempotency_keys',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'fingerprint', 'status', 'body', 'created_at', 'expires_at'],
    properties: { status: { bsonType: 'int' }, body: { bsonType: 'string' } },
  },
  // Housekeeping only: an expired key is free from the moment it expires, whenever this index gets to it.
  indexes: [{ key: { expires_at: 1 }, expireAfterSeconds: 60 * 60 }],
};
