import type { CollectionSpec } from '../database/migrations.js';
import { OPERATOR_ROLES, type OperatorRole } from './operator.js';

/** An operator's account as MongoDB stores it. */
export type OperatorDocument = {
  _id: string;
  name: string;
  email: string;
  /** Empty: the issuer has taken the last one. */
  roles: OperatorRole[];
  disabled_at: Date | null;
  created_at: Date;
  /** The operators who stand behind it, the nearest one first; none at set-up. */
  created_by?: string[];
  /**
   * The person at the issuer of OpenID Connect, who signs in to this account, and whose roles the issuer decides. `roles_at`: the
   * time of the token that has brought them.
   */
  identity?: { issuer: string; subject: string; roles_at: Date };
};

/** A key of an operator as MongoDB stores it: its hash, never the key. */
export type OperatorKeyDocument = {
  _id: string;
  hash: string;
  /** The pepper of the hash; missing in documents of earlier releases. */
  pepper_id?: string;
  operator_id: string;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** The operators who stand behind it, the nearest one first; none at set-up. */
  created_by?: string[];
};

const dateOrNull = { bsonType: ['date', 'null'] };
const text = { bsonType: 'string', minLength: 1 };
const line = { bsonType: 'array', items: text };

/** The accounts of operators. */
export const operatorsCollection: CollectionSpec = {
  name: 'operators',
  validator: {
    bsonType: 'object',
    required: ['name', 'email', 'roles', 'disabled_at', 'created_at'],
    properties: {
      name: text,
      email: text,
      roles: { bsonType: 'array', items: { enum: OPERATOR_ROLES } },
      disabled_at: dateOrNull,
      created_at: { bsonType: 'date' },
      created_by: line,
      identity: {
        bsonType: 'object',
        required: ['issuer', 'subject', 'roles_at'],
        properties: { issuer: text, subject: text, roles_at: { bsonType: 'date' } },
      },
    },
  },
  indexes: [
    { key: { email: 1 }, unique: true },
    {
      key: { 'identity.issuer': 1, 'identity.subject': 1 },
      unique: true,
      partialFilterExpression: { identity: { $exists: true } },
    },
  ],
  shardBy: null,
};

/** The keys of operators. Hashes are unique. */
export const operatorKeysCollection: CollectionSpec = {
  name: 'operator_keys',
  validator: {
    bsonType: 'object',
    required: ['hash', 'operator_id', 'created_at', 'expires_at', 'revoked_at'],
    properties: {
      hash: text,
      pepper_id: text,
      operator_id: text,
      created_at: { bsonType: 'date' },
      last_used_at: dateOrNull,
      expires_at: dateOrNull,
      revoked_at: dateOrNull,
      created_by: line,
    },
  },
  indexes: [{ key: { hash: 1 }, unique: true }, { key: { operator_id: 1 } }],
  shardBy: null,
};
