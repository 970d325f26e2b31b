import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { Charge } from '../charges/charge.js';
import {
  applyRefundFact,
  recordDeskRefund,
  type ApplyRefundFactResult,
  type RefundKey,
} from './mutations.js';
import { deskRefundId, type Refund } from './refund.js';

/** The store of refunds. */
export type Refunds = ReturnType<typeof createRefunds>;

/** The store of refunds. Money, states and events change only through commits. */
export function createRefunds(
  { db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<Refund>('refunds');
  return {
    ...createInstructionStore<Refund>({
      collection: db.collection<InstructionRecord>('refunds'),
      clock,
      stallTimeoutMs,
    }),

    /** Applies a fact by the rules of the transition. Returns the verdict and the refund afterwards. */
    applyFact: (
      { tenant_id: tenantId, _id: id, charge_id: charge }: RefundKey,
      fact: InstructionFact,
    ): Promise<ApplyRefundFactResult> =>
      groupCommit.commit(applyRefundFact, { tenantId, id, charge, fact }),

    /** Records a refund that was made at the provider's own desk. Repeats change nothing. */
    recordDeskRefund: async (
      charge: Pick<Charge, '_id' | 'tenant_id' | 'provider'>,
      made: { attempt: number; providerRefundId: string; amountMinor: bigint },
    ) =>
      (
        await groupCommit.commit(recordDeskRefund, {
          tenantId: charge.tenant_id,
          id: deskRefundId(charge.provider, made.providerRefundId),
          charge: charge._id,
          ...made,
        })
      ).result,

    /** Stores the provider's id of a refund, once. */
    async noteProviderId(refund: Refund, theirs: string | null): Promise<void> {
      if (theirs === null || refund.provider_refund_id !== null) return;
      const { _id, tenant_id } = refund;
      await collection.updateOne(
        { _id, tenant_id, provider_refund_id: null },
        { $set: { provider_refund_id: theirs }, $inc: { version: 1 } },
      );
    },

    byReference: (tenantId: string, reference: string) =>
      collection.findOne({ tenant_id: tenantId, reference }),
  };
}
