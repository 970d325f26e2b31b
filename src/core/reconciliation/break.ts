import { createHash } from 'node:crypto';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { idOf } from '../../shared/ids.js';

/** The kinds of breaks. Each says which side has the money, or has another word about it. */
export const BREAK_KINDS = [
  /** The provider has moved money, and there is no record of it here. */
  'missing_here',
  /** A movement of ours is unknown to the provider, or is not in its statement. */
  'missing_there',
  'other_amount',
  'other_state',
  /** The provider has moved the money of one movement of ours more than once. */
  'duplicate',
  'fee_differs',
  /** The running balance of a statement does not continue that of the row before. */
  'gap',
] as const;

/** The kind of a break. */
export type BreakKind = (typeof BREAK_KINDS)[number];

/** A difference between Bursar and a provider, as a run has found it. Amounts are in kobo. */
export type FoundBreak = {
  kind: BreakKind;
  /** `record`: the provider was asked about the record. `statement`: a row of a statement, or its absence. */
  source: 'record' | 'statement';
  provider: string;
  /** The capability of the record; null if it is not known. */
  capability: string | null;
  /** Our record; the provider's reference if there is none. */
  reference: string;
  tenantId: string | null;
  amountMinor: bigint;
  difference: string;
};

/** A break, which is stored once however often it is found. It is closed by agreement, or by an operator who accepts it. */
export type Break = {
  _id: string;
  kind: BreakKind;
  source: FoundBreak['source'];
  provider: string;
  capability: string | null;
  reference: string;
  tenant_id: string | null;
  amount_minor: bigint;
  difference: string;
  status: 'open' | 'closed';
  first_seen_at: Date;
  /** The time since which it is open: later than `first_seen_at` if it was closed in between. */
  opened_at: Date;
  last_seen_at: Date;
  /** The last time that a run was to compare its record beside its own. Absent until then. */
  last_tried_at?: Date;
  /** The number of runs that found it. */
  seen: number;
  closed: ClosedBreak | null;
};

/** The end of a break. `seen`: what the operator has accepted; another difference opens the break again. */
export type ClosedBreak = {
  at: Date;
  by: 'agreement' | 'operator';
  operator: string | null;
  reason: string | null;
  seen: string | null;
};

/** The id of a break: every run that finds the same one finds its record. */
export const breakId = (of: Pick<FoundBreak, 'kind' | 'source' | 'provider' | 'reference'>) =>
  idOf(
    'break',
    createHash('sha256').update([of.source, of.provider, of.kind, of.reference].join('/')).digest(),
  );

/** The difference that an operator accepts: the same break with another amount is not accepted. */
export const seenOf = ({
  difference,
  amount_minor: amount,
}: Pick<Break, 'difference' | 'amount_minor'>) => `${difference}: ${amount}`;

const text = { bsonType: 'string' };
const textOrNull = { bsonType: ['string', 'null'] };
const date = { bsonType: 'date' };
const isOpen = { status: 'open' };

/** The index of open breaks, the longest open first. */
export const OPEN_BREAKS = 'open';

/** Breaks. They are about all tenants, and few: they stay on one shard. */
export const breaksCollection: CollectionSpec = {
  name: 'reconciliation_breaks',
  validator: {
    bsonType: 'object',
    required: [
      'kind',
      'source',
      'provider',
      'reference',
      'amount_minor',
      'difference',
      'status',
      'first_seen_at',
      'opened_at',
      'last_seen_at',
      'seen',
    ],
    properties: {
      kind: { enum: [...BREAK_KINDS] },
      source: { enum: ['record', 'statement'] },
      provider: text,
      capability: textOrNull,
      reference: text,
      tenant_id: textOrNull,
      amount_minor: { bsonType: 'long' },
      difference: text,
      status: { enum: ['open', 'closed'] },
      first_seen_at: date,
      opened_at: date,
      last_seen_at: date,
      last_tried_at: date,
      seen: { bsonType: 'int', minimum: 1 },
      closed: { bsonType: ['object', 'null'] },
    },
  },
  indexes: [
    { name: OPEN_BREAKS, key: { opened_at: 1 }, partialFilterExpression: isOpen },
    { name: 'open_of', key: { reference: 1 }, partialFilterExpression: isOpen },
  ],
  shardBy: null,
};
