import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { saveRefusal, type SaveRefusal } from '../../core/idempotency/save-refusal.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import {
  acceptRefund,
  applyRefundFact,
  type AcceptRefund,
  type ApplyRefundFactResult,
  type RefundKey,
} from './mutations.js';
import type { Refund } from './refund.js';

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

    accept: (input: AcceptRefund) => groupCommit.commit(acceptRefund, input),
    saveRefusal: (input: SaveRefusal) => groupCommit.commit(saveRefusal, input),

    /** Applies a fact by the transitions of refunds. The result has the refund after it. */
    applyFact: (
      { tenant_id: tenantId, _id: id, charge_id: charge }: RefundKey,
      fact: InstructionFact,
    ): Promise<ApplyRefundFactResult> =>
      groupCommit.commit(applyRefundFact, { tenantId, id, charge, fact }),

    byReference: (tenantId: string, reference: string) =>
      collection.findOne({ tenant_id: tenantId, reference }),
  };
}
