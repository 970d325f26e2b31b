import type { CollectionSpec } from '../../platform/database/migrations.js';

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
      is_frozen: { bsonType: 'bool' },
      version: long,
    },
  },
  indexes: [],
  shardBy: '_id',
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
  // The order in which a day is closed and verified; balances read the postings after the last closed day from it.
  indexes: [{ key: { tenant_id: 1, at: 1, _id: 1 } }],
  shardBy: 'tenant_id',
};

/**
 * The closing of one account of a tenant on one day: `opening + credits - debits = closing`. An account that did not move
 * on a day has none, and its balance is that of its last closing. Accounts that tenants share, such as `fees`, have a
 * closing for each tenant. `_id` is `<tenant>/<day>/<account>`.
 */
export type ClosingDocument = {
  _id: string;
  tenant_id: string;
  day: string;
  account: string;
  opening_minor: bigint;
  debits_minor: bigint;
  credits_minor: bigint;
  closing_minor: bigint;
  /** The number of postings that moved the account. */
  postings: number;
};

/** A closed day of a tenant. Its closings count from the moment that it exists. `_id` is `<tenant>/<day>`. */
export type ClosedDayDocument = {
  _id: string;
  tenant_id: string;
  /** The Africa/Lagos day, `YYYY-MM-DD`. */
  day: string;
  postings: number;
  accounts: number;
  /** SHA-256 of the postings; see days.ts. */
  digest: string;
  closed_at: Date;
  /** The file that has the postings of this day, and the time from which they are only there; see archive.ts. */
  archived?: { file: string; sha256: string; at: Date; removed_at: Date | null };
};

/** A verification by the command line, with its progress, so that another process can continue it. */
export type VerificationDocument = {
  _id: string;
  started_at: Date;
  updated_at: Date;
  ended_at: Date | null;
  tenant_id: string | null;
  from: string | null;
  /** The state of the audit as JSON; see audit.ts. */
  state: string;
};

/** Closings of accounts by day. Never changed once their day is closed. */
export const closingsCollection: CollectionSpec = {
  name: 'ledger_closings',
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'day',
      'account',
      'opening_minor',
      'debits_minor',
      'credits_minor',
      'closing_minor',
      'postings',
    ],
    properties: {
      tenant_id: { bsonType: 'string' },
      day: { bsonType: 'string' },
      account: { bsonType: 'string' },
      opening_minor: long,
      debits_minor: { ...long, minimum: 0 },
      credits_minor: { ...long, minimum: 0 },
      closing_minor: long,
      postings: { bsonType: 'int' },
    },
  },
  indexes: [{ key: { tenant_id: 1, account: 1, day: -1 } }],
  shardBy: 'tenant_id',
};

/** Closed days by tenant. */
export const closedDaysCollection: CollectionSpec = {
  name: 'ledger_days',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'day', 'postings', 'accounts', 'digest', 'closed_at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      day: { bsonType: 'string' },
      postings: { bsonType: 'int' },
      accounts: { bsonType: 'int' },
      digest: { bsonType: 'string' },
      closed_at: { bsonType: 'date' },
      archived: { bsonType: 'object', required: ['file', 'sha256', 'at', 'removed_at'] },
    },
  },
  indexes: [{ key: { tenant_id: 1, day: 1 }, unique: true }],
  shardBy: 'tenant_id',
};

/** The last run of the closings; see closing-runs.ts. */
export const closingRunsCollection: CollectionSpec = {
  name: 'ledger_closing_runs',
  validator: {
    bsonType: 'object',
    required: ['ended_at', 'closed', 'refused'],
    properties: {
      ended_at: { bsonType: 'date' },
      closed: { bsonType: 'int', minimum: 0 },
      refused: { bsonType: 'int', minimum: 0 },
    },
  },
  indexes: [],
};

/** Verifications with their progress. MongoDB removes them a month after their last step. */
export const verificationsCollection: CollectionSpec = {
  name: 'ledger_verifications',
  validator: {
    bsonType: 'object',
    required: ['started_at', 'updated_at', 'state'],
    properties: { state: { bsonType: 'string' } },
  },
  indexes: [{ key: { updated_at: 1 }, expireAfterSeconds: 30 * 24 * 60 * 60 }],
};

/** Idempotency keys with their saved responses. An `_id` begins with the tenant. MongoDB removes expired ones. */
export const idempotencyKeysCollection: CollectionSpec = {
  name: 'idempotency_keys',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'fingerprint', 'status', 'body', 'created_at', 'expires_at'],
    properties: { status: { bsonType: 'int' }, body: { bsonType: 'string' } },
  },
  // Housekeeping only: an expired key is free from the moment it expires, whenever this index gets to it.
  indexes: [{ key: { expires_at: 1 }, expireAfterSeconds: 60 * 60 }],
  shardBy: '_id',
  sealed: [
    { path: 'body', index: 'body_index' },
    { path: 'fingerprint', hashed: true },
  ],
};
