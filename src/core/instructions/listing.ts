import type { Filter } from 'mongodb';
import { z } from 'zod';
import { daysQuery, pageQuery, rangeOf } from '../../platform/http/wire.js';
import { instructionStatus } from './api-fields.js';
import type { InstructionRecord, InstructionStatus } from './instruction.js';

/** The query of a list of payments. Dates are UTC days, both inclusive. */
export const listFields = {
  ...pageQuery(),
  status: z
    .enum([...instructionStatus.options, 'successful'])
    .optional()
    .meta({ description: '`successful` means the same as `completed`.' }),
  ...daysQuery('acceptance'),
  reference: z.string().min(1).max(100).optional(),
  sort: z
    .enum(['created_at', '-created_at', 'amount_minor', '-amount_minor'])
    .default('-created_at')
    .meta({ description: 'A minus sorts in descending order.' }),
};

type ListQuery = z.infer<z.ZodObject<typeof listFields>>;

/** Statuses of an instruction whose outcome is not known yet. */
export const OPEN: InstructionStatus[] = ['pending', 'processing'];

/** Statuses of an instruction whose outcome is known. A later fact may still change it. */
export const ENDED: InstructionStatus[] = ['completed', 'failed'];

/** A page of a tenant's payments: filters, sort order and position. */
export type Listing = {
  page: number;
  limit: number;
  sort: { field: 'created_at' | 'amount_minor'; descending: boolean };
  status?: InstructionStatus | undefined;
  reference?: string | undefined;
  /** Inclusive, the beginning of a UTC day. */
  from?: Date | undefined;
  /** Exclusive, the beginning of a UTC day. */
  until?: Date | undefined;
};

/** Translates the query for the store: inclusive days become a half-open range, `successful` becomes `completed`. */
export function toListing(query: ListQuery): Listing {
  const { page, limit, reference, status } = query;
  return {
    page,
    limit,
    reference,
    status: status === 'successful' ? 'completed' : status,
    ...rangeOf(query),
    sort: {
      field: query.sort.endsWith('amount_minor') ? 'amount_minor' : 'created_at',
      descending: query.sort.startsWith('-'),
    },
  };
}

/**
 * The indexes of lists. Each has the complete sort order of its list, ties included. The indexes by amount end with the
 * time of creation, so that a range of days is tested on the keys. The index by status and amount holds ended records
 * only, because open ones are few and cheap to sort.
 */
export const LIST_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
  byAmount: { tenant_id: 1, amount_minor: -1, _id: -1, created_at: -1 },
  byStatusAndAmount: { tenant_id: 1, status: 1, amount_minor: -1, _id: -1, created_at: -1 },
} as const;

/** The unique index that a list by reference is read from. */
export const BY_REFERENCE = { tenant_id: 1, reference: 1 } as const;

/** The indexes of a collection whose records are listed so. */
export const listIndexes = [
  { key: BY_REFERENCE, unique: true },
  { key: LIST_INDEXES.byCreation },
  { key: LIST_INDEXES.byStatus },
  { key: LIST_INDEXES.byAmount },
  { key: LIST_INDEXES.byStatusAndAmount, partialFilterExpression: { status: { $in: ENDED } } },
];

/** Returns the index with a page's sort order, or else the one that leaves the fewest records to sort. */
export function indexFor({ sort, status, reference }: Listing): object {
  if (reference !== undefined) return BY_REFERENCE;
  const isOpen = status !== undefined && OPEN.includes(status);
  if (sort.field === 'created_at' || isOpen) {
    return status ? LIST_INDEXES.byStatus : LIST_INDEXES.byCreation;
  }
  return status ? LIST_INDEXES.byStatusAndAmount : LIST_INDEXES.byAmount;
}

/** Returns the database filter of a page. */
export function listFilter<R extends InstructionRecord & { reference: string }>(
  tenantId: string,
  { status, reference, from, until }: Listing,
): Filter<R> {
  return {
    tenant_id: tenantId,
    ...(status && { status }),
    ...(reference !== undefined && { reference }),
    ...((from ?? until) && {
      created_at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
    }),
  } as Filter<R>;
}
