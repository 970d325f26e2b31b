import type { Filter } from 'mongodb';
import type { CollectionSpec } from '../database/migrations.js';
import { KEY_SCOPES, type KeyScope } from './scopes.js';
import { KEY_LEVELS, type KeyKind, type KeyLevel } from './api-key.js';

/** The properties of a key that is to be created. */
export type NewApiKey = {
  tenantId: string;
  level: KeyLevel;
  kind: KeyKind;
  label?: string;
  expiresAt?: Date;
  /** Addresses or CIDR ranges from which the key may be used; an empty list allows any address. */
  allowedIps?: readonly string[];
  /** The parts of the API that the key reaches; left out, everything that its level allows. */
  scopes?: readonly KeyScope[];
};

/** A key as MongoDB stores it: its hash, never the key. */
export type ApiKeyDocument = {
  _id: string;
  hash: string;
  /** The pepper of the hash; missing in documents of earlier releases. */
  pepper_id?: string;
  tenant_id: string;
  kind: KeyKind;
  level: KeyLevel;
  label: string | null;
  allowed_ips: string[];
  /** Missing: the key is not narrowed. */
  scopes?: KeyScope[];
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** The key that replaces it; null before a rotation. */
  replaced_by: string | null;
};

const dateOrNull = { bsonType: ['date', 'null'] };

/** The collection of API keys with its validator and indexes. Hashes are unique. */
export const apiKeysCollection: CollectionSpec = {
  name: 'api_keys',
  validator: {
    bsonType: 'object',
    required: ['hash', 'tenant_id', 'kind', 'level', 'allowed_ips', 'created_at', 'replaced_by'],
    properties: {
      hash: { bsonType: 'string' },
      pepper_id: { bsonType: 'string' },
      tenant_id: { bsonType: 'string' },
      kind: { enum: ['secret', 'public'] },
      level: { enum: KEY_LEVELS },
      label: { bsonType: ['string', 'null'] },
      allowed_ips: { bsonType: 'array', items: { bsonType: 'string' } },
      scopes: { bsonType: 'array', minItems: 1, items: { enum: KEY_SCOPES } },
      created_at: { bsonType: 'date' },
      last_used_at: dateOrNull,
      expires_at: dateOrNull,
      revoked_at: dateOrNull,
      replaced_by: { bsonType: ['string', 'null'] },
    },
  },
  indexes: [{ key: { hash: 1 }, unique: true }, { key: { tenant_id: 1, created_at: 1 } }],
};

/** Tells whether the key has been revoked, or has expired at `now`. */
export const isRevokedOrExpired = (
  { revoked_at: revoked, expires_at: expires }: ApiKeyDocument,
  now: Date,
) => revoked !== null || (expires !== null && expires <= now);

/** A filter for the keys that are neither revoked nor expired at `now`, and that no rotation has replaced. */
export const inUseAt = (now: Date): Filter<ApiKeyDocument> => ({
  revoked_at: null,
  replaced_by: null,
  $or: [{ expires_at: null }, { expires_at: { $gt: now } }],
});
