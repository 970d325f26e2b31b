import type { GroupCommit } from '../../core/commit/group-commit.js';
import { acceptRefund } from './mutations.js';
import { ApiError } from '../../shared/errors.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import { throwIfKeyReused, type Claim } from '../../core/commit/accept.js';
import type { Providers } from '../../core/providers/registry.js';
import type { Charges } from '../charges/index.js';
import { newRefund, type Refund } from './record.js';
import type { CreateRefundBody } from './schema.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';

/** Accepts a refund and starts its workflow. */
export type CreateRefund = (
  tenantId: string,
  body: CreateRefundBody,
  claim: Claim | null,
) => Promise<IdempotentResponse>;

/** Accepts a refund: one commit of record, hold, charge, key and answer; then the start of its workflow. */
export function createRefundCreation(deps: {
  charges: Pick<Charges, 'byReference'>;
  providers: Pick<Providers, 'payment'>;
  groupCommit: Pick<GroupCommit, 'commit'>;
  refundStarter: Pick<WorkflowStarter<Refund>, 'startSoon'>;
}): CreateRefund {
  const { charges, providers, groupCommit, refundStarter } = deps;

  return async (tenantId, body, claim) => {
    const charge = await charges.byReference(tenantId, body.charge_reference);
    if (!charge) {
      const message = 'There is no such charge.';
      const error = new ApiError('not_found', { field: 'charge_reference', message });
      return refuseRequest(groupCommit, { tenantId, claim, error });
    }
    // No money is held for a refund that nobody can make: a provider that is not configured any more is refused here.
    providers.payment(charge.provider);
    const refund = newRefund(charge, body, new Date());
    const { made, ...outcome } = await groupCommit.commit(acceptRefund, {
      tenantId,
      id: refund._id,
      refund,
      amountMinor: body.amount_minor === undefined ? null : BigInt(body.amount_minor),
      claim,
    });
    if (made) refundStarter.startSoon(made);
    return throwIfKeyReused(outcome);
  };
}
