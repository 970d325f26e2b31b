import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { Database } from '../../platform/database/client.js';
import type { IdentityCheck } from './record.js';
import {
  applyIdentityCheckFact,
  type ApplyIdentityCheckFactResult,
  type CheckKey,
} from './mutations.js';

/** The store of identity checks. */
export type IdentityChecks = ReturnType<typeof createIdentityChecks>;

/** Creates the store of identity checks. States and events change only through commits. */
export function createIdentityChecks(
  { db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
) {
  const collection = db.collection<IdentityCheck>('identity_checks');
  return {
    ...createInstructionStore<IdentityCheck>({
      collection: db.collection<InstructionRecord>('identity_checks'),
      stallTimeoutMs,
    }),

    /** Applies a fact by the rules of the transition. Returns the verdict and the check afterwards. */
    applyFact: (
      { tenant_id: tenantId, _id: id, customer_id: customerId }: CheckKey,
      fact: InstructionFact,
    ): Promise<ApplyIdentityCheckFactResult> =>
      groupCommit.commit(applyIdentityCheckFact, { tenantId, id, customerId, fact }),

    /** Lists the checks of a customer, newest first. */
    async list(
      { tenant_id, customer_id }: Pick<IdentityCheck, 'tenant_id' | 'customer_id'>,
      { page, limit }: { page: number; limit: number },
    ) {
      const filter = { tenant_id, customer_id };
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 } })
          .sort({ created_at: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter),
      ]);
      return { items, total };
    },
  };
}
