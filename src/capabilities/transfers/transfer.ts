import type { Filter } from 'mongodb';
import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';

/** A transfer as it is stored. Amounts in kobo. */
export type Transfer = InstructionRecord & {
  amount_minor: bigint;
  fee_minor: bigint;
  total_minor: bigint;
  currency: 'NGN';
  recipient: { account: string; bank_code: string; name: string | null; bank: string | null };
  reference: string;
  narration: string;
  session_id: string | null;
  metadata: Record<string, unknown> | null;
  failure: { code: string; message: string } | null;
  /** A payment that was proven after the hold was released stands in `suspense`. */
  in_suspense: boolean;
  /** Africa/Lagos day of acceptance: the day whose limit this transfer uses. */
  limit_day: string;
  completed_at: Date | null;
  reversed_at: Date | null;
};

export type TransferStatus = Transfer['status'];

/** The workflow that keeps this promise. */
export const transferWorkflowId = (id: string) => `transfer/${id}`;

const FAILURES: Record<string, string> = {
  account_closed: 'The recipient account is closed.',
  no_such_account: 'The recipient account does not exist.',
  invalid_account: 'The recipient account was not found.',
  reversed: 'The payment was made and then reversed by the bank.',
  operator: 'An operator ended this transfer.',
};

/** A failure with our own words for its code; a code that we do not know is still told as it is. */
export const failure = (code: string) => ({
  code,
  message: FAILURES[code] ?? 'The bank refused the payment.',
});

/** Statuses of a transfer whose outcome is not known yet. */
export const OPEN: TransferStatus[] = ['pending', 'processing'];

/** Statuses of a transfer whose outcome is known. A later fact may still change it. */
export const ENDED: TransferStatus[] = ['completed', 'failed'];

/**
 * The indexes that lists are read from, each in its sort's order to the last tie. The day is in those by amount too, so
 * that a range is tested on the keys. By status and amount only what has ended: what is open is few, and sorted.
 */
export const LIST_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
  byAmount: { tenant_id: 1, amount_minor: -1, _id: -1, created_at: -1 },
  byStatusAndAmount: { tenant_id: 1, status: 1, amount_minor: -1, _id: -1, created_at: -1 },
} as const;

/** A page of a tenant's transfers: filters, sort order and position. */
export type TransferListing = {
  page: number;
  limit: number;
  sort: { field: 'created_at' | 'amount_minor'; descending: boolean };
  status?: TransferStatus | undefined;
  reference?: string | undefined;
  /** Inclusive, the beginning of a UTC day. */
  from?: Date | undefined;
  /** Exclusive, the beginning of a UTC day. */
  until?: Date | undefined;
};

/** The unique index that a list by reference is read from. */
export const BY_REFERENCE = { tenant_id: 1, reference: 1 } as const;

/** Tells whether a page is sorted by amount within a range of days, an order that no index has. */
export const isAmountInRange = ({ sort, from, until }: TransferListing) =>
  sort.field === 'amount_minor' && (from ?? until) !== undefined;

/** The index that has the wanted order, or, where none has, the one that leaves least to be sorted. */
export function indexFor({ sort, status, reference }: TransferListing): object {
  if (reference !== undefined) return BY_REFERENCE;
  const isOpen = status !== undefined && OPEN.includes(status);
  if (sort.field === 'created_at' || isOpen) {
    return status ? LIST_INDEXES.byStatus : LIST_INDEXES.byCreation;
  }
  return status ? LIST_INDEXES.byStatusAndAmount : LIST_INDEXES.byAmount;
}

/** Returns the database filter of a page. */
export function listFilter(tenantId: string, query: TransferListing): Filter<Transfer> {
  const { status, reference, from, until } = query;
  return {
    tenant_id: tenantId,
    ...(status && { status }),
    ...(reference !== undefined && { reference }),
    ...((from ?? until) && {
      created_at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
    }),
  };
}

const long = { bsonType: 'long' };

/** Transfers. Their list indexes are in `queries.ts`. */
export const transfers = collection<Transfer>('transfers', {
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'amount_minor',
      'fee_minor',
      'total_minor',
      'submissions',
    ],
    properties: {
      tenant_id: { bsonType: 'string' },
      reference: { bsonType: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { ...long, minimum: 1 },
      fee_minor: { ...long, minimum: 0 },
      total_minor: { ...long, minimum: 1 },
      currency: { enum: ['NGN'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    { key: LIST_INDEXES.byCreation },
    { key: LIST_INDEXES.byStatus },
    { key: LIST_INDEXES.byAmount },
    { key: LIST_INDEXES.byStatusAndAmount, partialFilterExpression: { status: { $in: ENDED } } },
    nextCheckIndex,
    attentionIndex,
  ],
});
