import type { GroupCommit } from '../../core/commit/group-commit.js';
import { acceptRefund } from './mutations.js';
import { ApiError } from '../../shared/errors.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import { newId } from '../../shared/ids.js';
import { throwIfKeyReused, type Claim } from '../../core/commit/saved-response.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { attemptReference, type Charge } from '../charges/charge.js';
import type { Charges } from '../charges/index.js';
import type { Refund } from './refund.js';
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
  groupCommit: Pick<GroupCommit, 'commit'>;
  refundStarter: Pick<WorkflowStarter<Refund>, 'startSoon'>;
  clock?: () => Date;
}): CreateRefund {
  const { charges, groupCommit, refundStarter, clock = () => new Date() } = deps;

  return async (tenantId, body, claim) => {
    const charge = await charges.byReference(tenantId, body.charge_reference);
    if (!charge) {
      const message = 'There is no such charge.';
      const error = new ApiError('not_found', { field: 'charge_reference', message });
      return refuseRequest(groupCommit, { tenantId, claim, error });
    }
    const refund = newRefund(charge, body, clock());
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

/**
 * Builds the record of a refund with everything that does not depend on the commit. The number of the paid attempt
 * never changes.
 */
function newRefund(
  charge: Charge,
  { reference, reason }: CreateRefundBody,
  now: Date,
): Omit<Refund, 'amount_minor'> {
  const id = newId('refund');
  return {
    _id: id,
    tenant_id: charge.tenant_id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    provider: charge.provider,
    reference: reference ?? id,
    charge_id: charge._id,
    charge_reference: charge.reference,
    provider_charge_reference: attemptReference(charge),
    currency: charge.currency,
    reason: reason ?? null,
    provider_refund_id: null,
    failure: null,
    in_suspense: false,
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    next_attempt_at: null,
    attention: null,
    monitor_until: null,
    next_check_at: new Date(now.getTime() + START_WITHIN_MS),
    timeline: [
      timelineEntry(now, 'accepted', 'api', { detail: 'the amount is held in the wallet' }),
    ],
    created_at: now,
    updated_at: now,
    completed_at: null,
    reversed_at: null,
  };
}
