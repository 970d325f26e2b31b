import type { Sort } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { indexFor, listFilter, type Listing } from '../../core/instructions/listing.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import { BY_BILLER, type BillPayment } from './record.js';
import {
  applyBillPaymentFact,
  grantBillPaymentPermit,
  type ApplyBillPaymentFactResult,
} from './mutations.js';
import type { BillPaymentFact } from './transitions.js';

/** A page of a tenant's bill payments. */
export type BillPaymentListing = Listing & { billerId?: string | undefined };

/** The store of bill payments. */
export type BillPayments = ReturnType<typeof createBillPayments>;

/** Creates the store of bill payments. Money, states and events change only through commits. */
export function createBillPayments(
  { db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
) {
  const collection = db.collection<BillPayment>('bill_payments');
  return {
    ...createInstructionStore<BillPayment>({
      collection: db.collection<InstructionRecord>('bill_payments'),
      stallTimeoutMs,
      eventfulPermit: {
        hasSubscribers: (tenantId) => groupCommit.hasSubscribers(tenantId),
        grantPermit: async (tenantId, id, request) =>
          (await groupCommit.commit(grantBillPaymentPermit, { tenantId, id, request })).payment,
      },
    }),

    /** Applies a fact by the rules of the transition. Returns the verdict and the payment afterwards. */
    applyFact: (
      tenantId: string,
      id: string,
      fact: BillPaymentFact,
    ): Promise<ApplyBillPaymentFactResult> =>
      groupCommit.commit(applyBillPaymentFact, { tenantId, id, fact }),

    /** The total is counted by the index that the page is read from. */
    async list(
      tenantId: string,
      query: BillPaymentListing,
    ): Promise<{ items: BillPayment[]; total: number }> {
      const { page, limit, billerId } = query;
      const direction = query.sort.descending ? -1 : 1;
      const sort: Sort = { [query.sort.field]: direction, _id: direction };
      const filter = {
        ...listFilter<BillPayment>(tenantId, query),
        ...(billerId !== undefined && { biller_id: billerId }),
      };
      const hint =
        billerId !== undefined && query.reference === undefined ? BY_BILLER : indexFor(query);
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 }, hint })
          .sort(sort)
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint }),
      ]);
      return { items, total };
    },
  };
}
