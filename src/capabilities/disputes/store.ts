import type { Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { Charge } from '../charges/charge.js';
import { DISPUTE_INDEXES, disputeId, type Dispute, type DisputeStatus } from './dispute.js';
import { applyDisputeFact, type ApplyDisputeFactResult } from './mutations.js';
import type { DisputeFact } from './transitions.js';

/** The page and the filter of a list of disputes. */
export type DisputeListing = {
  page: number;
  limit: number;
  descending: boolean;
  status?: DisputeStatus | undefined;
  charge?: string | undefined;
};

/** The store of disputes. */
export type Disputes = ReturnType<typeof createDisputes>;

/** The store of disputes. Money, states and events change only through commits. */
export function createDisputes({ db }: Database, groupCommit: Pick<GroupCommit, 'commit'>) {
  const collection = db.collection<Dispute>('disputes');
  return {
    /** Applies a provider's report by the rules of the transition. It opens a dispute that is not known. */
    applyFact: (
      charge: Pick<Charge, '_id' | 'tenant_id' | 'provider'>,
      about: { attempt: number; providerDisputeId: string },
      fact: DisputeFact,
    ): Promise<ApplyDisputeFactResult> =>
      groupCommit.commit(applyDisputeFact, {
        tenantId: charge.tenant_id,
        id: disputeId(charge.provider, about.providerDisputeId),
        charge: charge._id,
        ...about,
        fact,
      }),

    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** The total is counted by the index that the page is read from. */
    async list(
      tenantId: string,
      query: DisputeListing,
    ): Promise<{ items: Dispute[]; total: number }> {
      const { page, limit, status, charge } = query;
      const direction = query.descending ? -1 : 1;
      const filter: Filter<Dispute> = {
        tenant_id: tenantId,
        ...(status && { status }),
        ...(charge !== undefined && { charge_reference: charge }),
      };
      const hint =
        charge !== undefined
          ? DISPUTE_INDEXES.byCharge
          : status
            ? DISPUTE_INDEXES.byStatus
            : DISPUTE_INDEXES.byCreation;
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 }, hint })
          .sort({ created_at: direction, _id: direction })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint }),
      ]);
      return { items, total };
    },
  };
}
