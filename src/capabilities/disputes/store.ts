import type { Collection, Filter } from 'mongodb';
import type { Act } from '../../core/audit/entry.js';
import type { Database } from '../../platform/database/client.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { Charge } from '../charges/record.js';
import { DISPUTE_INDEXES, disputeId, type Dispute, type DisputeStatus } from './record.js';
import {
  actOnDispute,
  applyDisputeFact,
  type ActOnDisputeResult,
  type ApplyDisputeFactResult,
} from './mutations.js';
import type { DisputeDecision, DisputeFact } from './transitions.js';

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

    /** Carries out an operator's act: a decision, or without one the acknowledgement of the attention that was read. */
    act: (
      { _id: id, tenant_id: tenantId, charge_id: charge, attention }: Dispute,
      act: Act,
      decision: Omit<DisputeDecision, 'act'> | null,
    ): Promise<ActOnDisputeResult> =>
      groupCommit.commit(actOnDispute, {
        tenantId,
        id,
        charge,
        act,
        decision,
        seen: attention?.reason ?? null,
      }),

    ...operatorReads(collection),

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

/** The reads of operators, who need no tenant, and of the comparison. */
const operatorReads = (collection: Collection<Dispute>) => ({
  find: (id: string) => collection.findOne({ _id: id }, acrossTenants('look_up')),

  /** A tenant's newest disputes, or those that need an operator, the longest waiting first. */
  latest: (
    {
      attention,
      tenantId,
    }: { attention: true; tenantId?: string } | { attention: false; tenantId: string },
    limit: number,
  ): Promise<Dispute[]> =>
    collection
      .find(
        {
          ...(tenantId !== undefined && { tenant_id: tenantId }),
          ...(attention && { 'attention.since': { $type: 'date' } }),
        },
        { projection: { timeline: 0 }, ...acrossTenants('report') },
      )
      .sort(attention ? { 'attention.since': 1 } : { created_at: -1, _id: -1 })
      .limit(limit)
      .toArray(),

  /** A tenant's open disputes after one of them, the oldest first. */
  openOf: (
    tenantId: string,
    after: { id: string; createdAt: Date } | null,
    limit: number,
  ): Promise<Dispute[]> =>
    collection
      .find(
        {
          tenant_id: tenantId,
          status: 'open',
          ...(after && {
            created_at: { $gte: after.createdAt },
            $nor: [{ created_at: after.createdAt, _id: { $lte: after.id } }],
          }),
        },
        { projection: { timeline: 0 }, hint: DISPUTE_INDEXES.byStatus },
      )
      .sort({ created_at: 1, _id: 1 })
      .limit(limit)
      .toArray(),
});
