import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import type { refundResource } from './schema.js';
import type { Refund } from './record.js';

/** A refund as clients see it: every field is named here, so that a new stored field never leaks. */
export function presentRefund(refund: Omit<Refund, 'timeline'>): z.infer<typeof refundResource> {
  return {
    reference: refund.reference,
    charge_reference: refund.charge_reference,
    amount_minor: toWireAmount(refund.amount_minor),
    settled_amount_minor:
      refund.settled_amount_minor === null ? null : toWireAmount(refund.settled_amount_minor),
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    failure: presentFailure(refund.failure),
    attention: presentAttention(refund.attention),
    created_at: refund.created_at.toISOString(),
    completed_at: refund.completed_at?.toISOString() ?? null,
  };
}

/** The line of a refund in the list for operators. */
export const presentRefundRow = (refund: Refund) => ({
  id: refund._id,
  tenant: refund.tenant_id,
  charge: refund.charge_id,
  status: refund.status,
  amount_minor: toWireAmount(refund.amount_minor),
  attention: refund.attention?.reason ?? null,
  created_at: refund.created_at.toISOString(),
});

/** A refund for operators, with fields that tenants do not get. */
export const presentRefundDetails = (refund: Refund) => ({
  id: refund._id,
  ...presentRefund(refund),
  tenant: refund.tenant_id,
  charge: refund.charge_id,
  provider: refund.provider,
  provider_charge: refund.provider_charge_reference,
  provider_refund_id: refund.provider_refund_id,
  in_suspense: refund.in_suspense,
  submissions: refund.submissions,
});
