import type { Collection, Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import type { Act } from '../../core/audit/entry.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { Charge } from '../charges/record.js';
import {
  forgetUnnamedRefusal,
  noteUnnamedRefusal,
  recordDeskRefund,
  refuseDeskRefund,
} from './desk-refunds.js';
import {
  applyRefundFact,
  forgetRefundAccount,
  nameRefundAccount,
  type ApplyRefundFactResult,
  type RefundKey,
} from './mutations.js';
import { orderReturn, type OrderReturn } from './returns.js';
import { deskRefundId, REFUND_INDEXES, type Refund } from './record.js';

/** The page and the filter of a list of refunds. */
export type RefundListing = {
  page: number;
  limit: number;
  descending: boolean;
  status?: Refund['status'] | undefined;
  charge?: string | undefined;
};

type ChargeKey = Pick<Charge, '_id' | 'tenant_id'>;

/** The store of refunds. */
export type Refunds = ReturnType<typeof createRefunds>;

/** The store of refunds. Money, states and events change only through commits. */
export function createRefunds({ db }: Database, groupCommit: GroupCommit, stallTimeoutMs: number) {
  const collection = db.collection<Refund>('refunds');
  return {
    ...createInstructionStore<Refund>({
      collection: db.collection<InstructionRecord>('refunds'),
      stallTimeoutMs,
    }),

    /** Applies a fact by the rules of the transition. Returns the verdict and the refund afterwards. */
    applyFact: (
      { tenant_id: tenantId, _id: id, charge_id: charge }: RefundKey,
      fact: InstructionFact,
    ): Promise<ApplyRefundFactResult> =>
      groupCommit.commit(applyRefundFact, { tenantId, id, charge, fact }),

    ...deskRefunds(collection, groupCommit),

    ...customerAccounts(groupCommit),

    /** Orders the return of a payment in suspense. Null: it is not in suspense, or is being returned already. */
    orderReturn: async (order: OrderReturn): Promise<Refund | null> =>
      (await groupCommit.commit(orderReturn, order)).refund,

    /** Stores the provider's id of a refund, once. */
    async noteProviderId(refund: Refund, theirs: string | null): Promise<void> {
      if (theirs === null || refund.provider_refund_id !== null) return;
      const { _id, tenant_id } = refund;
      await collection.updateOne(
        { _id, tenant_id, provider_refund_id: null },
        { $set: { provider_refund_id: theirs }, $inc: { version: 1 } },
      );
    },

    /** The total is counted by the index that the page is read from. */
    async list(
      tenantId: string,
      query: RefundListing,
    ): Promise<{ items: Refund[]; total: number }> {
      const { page, limit, status, charge } = query;
      const direction = query.descending ? -1 : 1;
      const filter: Filter<Refund> = {
        tenant_id: tenantId,
        ...(status && { status }),
        ...(charge !== undefined && { charge_reference: charge }),
      };
      const hint =
        charge !== undefined
          ? REFUND_INDEXES.byCharge
          : status
            ? REFUND_INDEXES.byStatus
            : REFUND_INDEXES.byCreation;
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

    byReference: (tenantId: string, reference: string) =>
      collection.findOne({ tenant_id: tenantId, reference }),
  };
}

/** Refunds that were made at the provider's own desk, and those of a charge that a report may be about. */
const deskRefunds = (collection: Collection<Refund>, groupCommit: GroupCommit) => ({
  /** Records a refund that was made at the provider's own desk. Repeats change nothing. */
  async recordDeskRefund(
    charge: Pick<Charge, '_id' | 'tenant_id' | 'provider'>,
    made: { attempt: number; providerRefundId: string; amountMinor: bigint },
  ) {
    // Its request may have reached the provider without our note, and its answer may be lost.
    const unnamed = await collection.findOne(
      {
        tenant_id: charge.tenant_id,
        charge_id: charge._id,
        amount_minor: made.amountMinor,
        status: { $in: ['pending', 'processing'] },
        submissions: { $gt: 0 },
        provider_refund_id: null,
      },
      { projection: { _id: 1 } },
    );
    const { result } = await groupCommit.commit(recordDeskRefund, {
      tenantId: charge.tenant_id,
      id: deskRefundId(charge.provider, made.providerRefundId),
      charge: charge._id,
      ...made,
      ...(unnamed && { mayBe: unnamed._id }),
    });
    return result;
  },

  /** Notes that the provider refused a refund of its own desk. Repeats change nothing. */
  refuseDeskRefund: async ({ _id: charge, tenant_id: tenantId }: ChargeKey, id: string) =>
    (await groupCommit.commit(refuseDeskRefund, { tenantId, id, charge })).result,

  /** Notes a failed refund that the provider has not named, once for each event or key of repeats. */
  noteUnnamedRefusal: (
    { _id: id, tenant_id: tenantId }: ChargeKey,
    refusal: { event: string; amountMinor: bigint },
  ) => groupCommit.commit(noteUnnamedRefusal, { tenantId, id, ...refusal }),

  /** Takes back what `noteUnnamedRefusal` has noted for an event. */
  forgetUnnamedRefusal: ({ _id: id, tenant_id: tenantId }: ChargeKey, event: string) =>
    groupCommit.commit(forgetUnnamedRefusal, { tenantId, id, event }),

  /** True if a completed refund has this charge and amount. */
  hasCompleted: async ({ _id, tenant_id }: ChargeKey, amountMinor: bigint): Promise<boolean> =>
    (await collection.findOne(
      { tenant_id, charge_id: _id, amount_minor: amountMinor, status: 'completed' },
      { projection: { _id: 1 } },
    )) !== null,

  /** The refund of a charge that has this id at the provider, also one of ours. */
  byProviderId: ({ _id, tenant_id }: ChargeKey, theirs: string) =>
    collection.findOne({ tenant_id, charge_id: _id, provider_refund_id: theirs }),

  /** The refunds of a charge that have not ended. */
  openOf: ({ _id, tenant_id }: ChargeKey): Promise<Refund[]> =>
    collection
      .find({ tenant_id, charge_id: _id, status: { $in: ['pending', 'processing'] } })
      .toArray(),
});

/** Accounts of customers for refunds that cannot reach the card. */
const customerAccounts = (groupCommit: GroupCommit) => ({
  /** Keeps the customer's account for the provider. Null: the refund does not wait for one. */
  nameAccount: async (
    { _id: id, tenant_id: tenantId }: Refund,
    account: NonNullable<Refund['customer_account']>,
    act: Act,
  ): Promise<Refund | null> =>
    (await groupCommit.commit(nameRefundAccount, { tenantId, id, account, act })).refund,

  /**
   * Forgets this account of the customer, and none that an operator has named since. `refused`: the reason to call an
   * operator; null if the provider goes on.
   */
  forgetAccount: async (
    { _id: id, tenant_id: tenantId }: Refund,
    account: NonNullable<Refund['customer_account']>,
    refused: string | null,
  ): Promise<boolean> =>
    (await groupCommit.commit(forgetRefundAccount, { tenantId, id, account, refused })).forgotten,
});
