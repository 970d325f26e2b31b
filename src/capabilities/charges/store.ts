import type { Collection, Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { textEquals } from '../../platform/database/indexes.js';
import { BY_ID, ownedFilter, type Owned } from '../../platform/database/tenant-filters.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { type InstructionRecord, timelineEntry } from '../../core/instructions/instruction.js';
import type { Decline } from '../../core/providers/payment-provider.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import {
  CHARGE_INDEXES,
  IN_DOUBT,
  MADE_BY_INDEX,
  type Charge,
  type ChargeStatus,
} from './record.js';
import type { ChargeFact } from './facts.js';
import {
  applyChargeFact,
  setChargeAction,
  type ApplyChargeFactResult,
  type ChargeKey,
} from './mutations.js';

/** The page and the filter of a list of charges. */
export type ChargeListing = {
  page: number;
  limit: number;
  descending: boolean;
  status?: ChargeStatus | undefined;
  customer?: string | undefined;
  /** Inclusive: the start of a UTC day. */
  from?: Date | undefined;
  /** Exclusive: the start of a UTC day. */
  until?: Date | undefined;
};

/** The store of charges. */
export type Charges = ReturnType<typeof createCharges>;

/** The store of charges. Money, states and events change only through commits. */
export function createCharges({ db }: Database, groupCommit: GroupCommit, stallTimeoutMs: number) {
  const collection = db.collection<Charge>('charges');
  return {
    ...createInstructionStore<Charge>({
      collection: db.collection<InstructionRecord>('charges'),
      stallTimeoutMs,
      withheld: IN_DOUBT,
    }),
    ...chargeQueries(collection),

    /** Applies a fact by the rules of the transition. Returns the verdict and the charge afterwards. */
    applyFact: (of: ChargeKey, fact: ChargeFact): Promise<ApplyChargeFactResult> =>
      groupCommit.commit(applyChargeFact, { tenantId: of.tenant_id, id: of._id, of, fact }),

    /**
     * Stores the address of the provider's page for this attempt, and emits `charge.requires_action`. Returns null if the
     * charge has ended or has another attempt.
     */
    async requireAction(
      { tenant_id: tenantId, _id: id, attempt }: Charge,
      page: {
        url: string;
        handle: string | null;
        expiresAt: Date;
        providerRequestId: string | null;
      },
    ): Promise<Charge | null> {
      const input = { tenantId, id, attempt, ...page };
      return (await groupCommit.commit(setChargeAction, input)).charge;
    },

    /** Notes a decline on the provider's page, which is still open. The same decline is noted once. */
    async noteDecline(
      { _id: id, tenant_id: tenantId, provider, attempt }: Charge,
      { code, decline }: Decline,
    ): Promise<void> {
      const detail = `declined on the page, which is still open: ${code}`;
      await collection.updateOne(
        {
          _id: id,
          tenant_id: tenantId,
          attempt,
          status: { $in: ['pending', 'processing'] },
          last_decline: { $ne: code },
        },
        {
          $set: { last_decline: code, last_decline_kind: decline },
          $inc: { version: 1 },
          $push: { timeline: timelineEntry(new Date(), 'note', provider, { detail }) },
        },
      );
    },

    /**
     * Notes that the customer has to confirm a saved method on a page whose address was lost, and until when. It is noted once for
     * each attempt.
     */
    async awaitConfirmation(
      { _id: id, tenant_id: tenantId, provider, attempt }: Charge,
      expiresAt: Date,
    ): Promise<void> {
      const detail = 'the customer must confirm it, on a page whose address was lost';
      await collection.updateOne(
        {
          _id: id,
          tenant_id: tenantId,
          attempt,
          status: { $in: ['pending', 'processing'] },
          next_action: null,
          expires_at: null,
        },
        {
          $set: { expires_at: expiresAt },
          $inc: { version: 1 },
          $push: { timeline: timelineEntry(new Date(), 'note', provider, { detail }) },
        },
      );
    },
  };
}

/** Queries for charges. Those for clients name the tenant; the others are for operators and the worker. */
function chargeQueries(collection: Collection<Charge>) {
  return {
    byReference: (tenantId: string, reference: string) =>
      collection.findOne({ tenant_id: tenantId, reference }),

    /** Returns the charges that have ended or have a next action. */
    async endedOrActionable(owned: Owned[]): Promise<Charge[]> {
      const filter = {
        ...ownedFilter(owned),
        $or: [{ status: { $in: ['completed', 'failed'] } }, { next_action: { $ne: null } }],
      } as Filter<Charge>;
      return collection.find(filter, { projection: { timeline: 0 }, ...BY_ID }).toArray();
    },

    /** The total is counted by the index that the page is read from. */
    async list(
      tenantId: string,
      query: ChargeListing,
    ): Promise<{ items: Charge[]; total: number }> {
      const { page, limit, customer, status } = query;
      const direction = query.descending ? -1 : 1;
      const filter = listFilter(tenantId, query);
      const hint =
        customer !== undefined
          ? CHARGE_INDEXES.byCustomer
          : status !== undefined
            ? CHARGE_INDEXES.byStatus
            : CHARGE_INDEXES.byCreation;
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

    /** The open charges of a tenant that public keys have made, counted up to `limit`. */
    openOfPublicKeys: (tenantId: string, limit: number): Promise<number> =>
      collection.countDocuments(
        {
          tenant_id: tenantId,
          made_by: textEquals('public_key'),
          status: { $in: ['pending', 'processing'] },
        } as Filter<Charge>,
        { hint: MADE_BY_INDEX, limit },
      ),
  };
}

function listFilter(tenantId: string, query: ChargeListing): Filter<Charge> {
  const { status, customer, from, until } = query;
  const stored = status === 'requires_action' ? 'processing' : status;
  return {
    tenant_id: tenantId,
    ...(stored && { status: stored }),
    ...(status === 'requires_action' && { next_action: { $ne: null } }),
    ...(status === 'processing' && { next_action: null }),
    ...(customer !== undefined && { 'customer.id': customer }),
    ...((from ?? until) && {
      created_at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
    }),
  };
}
