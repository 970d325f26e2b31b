import type { Filter } from 'mongodb';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';

/** The stored form of a transfer. Amounts are in kobo. */
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
  /** True while `suspense` holds a payment that was proven after the release of the hold. */
  in_suspense: boolean;
  /** Africa/Lagos day of acceptance. The amount counts towards the daily limit of this day. */
  limit_day: string;
  /** Amount that the bank has paid and an operator has accepted, if it is not `amount_minor`. */
  settled_amount_minor: bigint | null;
  completed_at: Date | null;
  reversed_at: Date | null;
};

/** The amount that the bank pays: the requested one, or the one that an operator has accepted in its place. */
export const settledOf = ({
  amount_minor: amount,
  settled_amount_minor: settled,
}: Pick<Transfer, 'amount_minor' | 'settled_amount_minor'>): bigint => settled ?? amount;

/** The status of a transfer, in the database and in the API. */
export type TransferStatus = Transfer['status'];

/** The id of the workflow that executes a transfer. */
export const transferWorkflowId = (id: string) => `transfer/${id}`;

const FAILURES: Record<string, string> = {
  account_closed: 'The recipient account is closed.',
  no_such_account: 'The recipient account does not exist.',
  invalid_account: 'The recipient account was not found.',
  reversed: 'The payment was made and then reversed by the bank.',
  operator: 'An operator ended this transfer.',
};

/** Adds our message to the code of a failure. An unknown code stays as it is and gets a general message. */
export const failure = (code: string) => ({
  code,
  message: FAILURES[code] ?? 'The bank refused the payment.',
});

/** Statuses of a transfer whose outcome is not known yet. */
export const OPEN: TransferStatus[] = ['pending', 'processing'];

/** Statuses of a transfer whose outcome is known. A later fact may still change it. */
export const ENDED: TransferStatus[] = ['completed', 'failed'];

/**
 * The indexes of lists. Each has the complete sort order of its list, ties included. The indexes by amount end with the
 * time of creation, so that a range of days is tested on the keys. The index by status and amount holds ended transfers
 * only, because open ones are few and cheap to sort.
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

/** Returns true for a page that is sorted by amount within a range of days. No index has that sort order. */
export const isAmountInRange = ({ sort, from, until }: TransferListing) =>
  sort.field === 'amount_minor' && (from ?? until) !== undefined;

/** Returns the index with a page's sort order, or else the one that leaves the fewest records to sort. */
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

/** The collection of transfers. */
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
      settled_amount_minor: { bsonType: ['long', 'null'], minimum: 1 },
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
    ...supervisionIndexes,
  ],
});
