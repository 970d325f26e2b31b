import type { Collection, Filter } from 'mongodb';
import { supervisionOf } from '../../core/supervision/supervision.js';
import { DAY_MS } from '../../shared/durations.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { Database } from '../../platform/database/client.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { OffsetListing } from '../cards/index.js';
import type { AuthorizationTerms } from '../card-authorizations/mutations.js';
import {
  applyCardDisputeFacts,
  type ApplyCardDisputeFacts,
  type ApplyCardDisputeFactsResult,
} from './mutations.js';
import {
  CARD_DISPUTE_INDEXES,
  ISSUER_SILENT,
  type CardDispute,
  type CardDisputeStatus,
} from './record.js';
import type { DisputeCheck } from './workflow-contract.js';

/** The store of disputes of card payments. */
export type CardDisputes = ReturnType<typeof createCardDisputeStore>;

/** A list of disputes. The filters that are missing select all. `until` is exclusive. */
type CardDisputeListing = {
  tenantId: string;
  card?: string | undefined;
  authorization?: string | undefined;
  status?: CardDisputeStatus | undefined;
  from?: Date | undefined;
  until?: Date | undefined;
};

/** A list for operators. The filters that are missing select all. */
type OperatorListing = {
  card?: string | undefined;
  authorization?: string | undefined;
  attention: boolean;
};

/** The store of disputes. They change only through commits. */
export function createCardDisputeStore(
  { db }: Database,
  groupCommit: Pick<GroupCommit, 'commit'>,
  { stallTimeoutMs, terms }: { stallTimeoutMs: number; terms: AuthorizationTerms },
) {
  const collection = db.collection<CardDispute>('card_disputes');
  return {
    ...questionsAbout(collection, { stallTimeoutMs }),
    ...operatorReads(collection),
    /** For the dispatcher: open disputes, whose issuer is asked daily. */
    ...supervisionOf(
      collection,
      'updated_at',
      { stallTimeoutMs },
      { acceptedField: 'created_at', open: { status: 'open' } },
    ),

    /** Applies facts about a dispute: reports of its issuer, or the outcome of one of its operations. */
    applyFacts: (
      { _id: id, tenant_id: tenantId }: Pick<CardDispute, '_id' | 'tenant_id'>,
      given: Omit<ApplyCardDisputeFacts, 'id' | 'tenantId' | 'terms'>,
    ): Promise<ApplyCardDisputeFactsResult> =>
      groupCommit.commit(applyCardDisputeFacts, { tenantId, id, ...given, terms }),

    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** Newest first. The total is counted by the index that the page is read from. */
    async list(
      { tenantId, card, authorization, status, from, until }: CardDisputeListing,
      { limit, offset }: OffsetListing,
    ) {
      const at = { ...(from && { $gte: from }), ...(until && { $lt: until }) };
      const filter: Filter<CardDispute> = {
        tenant_id: tenantId,
        ...(card !== undefined && { card_id: card }),
        ...(authorization !== undefined && { authorization_id: authorization }),
        ...(status !== undefined && { status }),
        ...((from ?? until) && { created_at: at }),
      };
      const hint =
        authorization !== undefined
          ? CARD_DISPUTE_INDEXES.byAuthorization
          : card !== undefined
            ? CARD_DISPUTE_INDEXES.byCard
            : status !== undefined
              ? CARD_DISPUTE_INDEXES.byStatus
              : CARD_DISPUTE_INDEXES.byCreation;
      const [items, total] = await Promise.all([
        collection
          .find(filter)
          .sort({ created_at: -1, _id: -1 })
          .hint(hint)
          .skip(offset)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint }),
      ]);
      return { items, total };
    },
  };
}

/** The reads of operators, who need no tenant. */
const operatorReads = (collection: Collection<CardDispute>) => ({
  find: (id: string) => collection.findOne({ _id: id }, acrossTenants('look_up')),

  /** The newest disputes, or those that need attention, the oldest need first. */
  latest: (
    { card, authorization, attention }: OperatorListing,
    limit: number,
  ): Promise<Omit<CardDispute, 'facts'>[]> =>
    collection
      .find(
        {
          ...(card !== undefined && { card_id: card }),
          ...(authorization !== undefined && { authorization_id: authorization }),
          ...(attention && { 'attention.since': { $type: 'date' } }),
        },
        acrossTenants('report'),
      )
      .project<Omit<CardDispute, 'facts'>>({ facts: 0 })
      .sort(attention ? { 'attention.since': 1 } : { created_at: -1, _id: -1 })
      .limit(limit)
      .toArray(),
});

/** Pause until the next question if the issuer did not answer. */
const SILENT_PAUSE_MS = 60 * 60 * 1000;

/** When the issuer is asked about open disputes. */
function questionsAbout(
  collection: Collection<CardDispute>,
  { stallTimeoutMs }: { stallTimeoutMs: number },
) {
  const checkAfter = (at: Date) => new Date(at.getTime() + stallTimeoutMs);
  const openOne = ({ tenantId, id }: { tenantId: string; id: string }) =>
    ({ _id: id, tenant_id: tenantId, status: 'open' }) as const;
  return {
    /** Checks whether a dispute is open, and postpones the dispatcher's check to after the next question. */
    async checkOpen(ref: { tenantId: string; id: string }): Promise<DisputeCheck> {
      const found = await collection.findOne(openOne(ref));
      if (!found?.verify_at) return { open: false };
      const now = new Date();
      const { verify_at: at } = found;
      const next = checkAfter(at > now ? at : now);
      await collection.updateOne(openOne(ref), {
        $set: { next_check_at: next },
        $inc: { version: 1 },
      });
      return { open: true, askInMs: Math.max(0, at.getTime() - now.getTime()) };
    },

    /**
     * Sets the time of the next question. An issuer that has been silent for a day needs an operator: returns the reason if
     * attention was raised. Its next answer clears it.
     */
    async noteQuestion(
      { _id: id, tenant_id: tenantId }: Pick<CardDispute, '_id' | 'tenant_id'>,
      isAnswered: boolean,
    ): Promise<string | null> {
      const open = openOne({ tenantId, id });
      const found = await collection.findOne(open);
      if (!found) return null;
      const now = new Date();
      const { attention } = found;
      const since = isAnswered ? null : (found.silent_since ?? now);
      const next = new Date(now.getTime() + (isAnswered ? DAY_MS : SILENT_PAUSE_MS));
      const isSilent = since !== null && now.getTime() - since.getTime() >= DAY_MS;
      const raised = isSilent && attention === null;
      const cleared = isAnswered && attention?.reason === ISSUER_SILENT;
      await collection.updateOne(
        { ...open, ...((raised || cleared) && { 'attention.since': attention?.since ?? null }) },
        {
          $set: {
            verify_at: next,
            next_check_at: checkAfter(next),
            silent_since: since,
            ...(raised && { attention: { since: now, reason: ISSUER_SILENT } }),
            ...(cleared && { attention: null }),
          },
          $inc: { version: 1 },
        },
      );
      return raised ? ISSUER_SILENT : null;
    },
  };
}
