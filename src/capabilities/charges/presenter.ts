import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import type { chargeResource } from './schema.js';
import { attemptReference, isUndecided, statusOf, type Charge } from './record.js';

/** A charge as clients see it: every field is named here, so that a new stored field never leaks. */
export function presentCharge(charge: Omit<Charge, 'timeline'>): z.infer<typeof chargeResource> {
  return {
    reference: charge.reference,
    amount_minor: toWireAmount(charge.amount_minor),
    settled_amount_minor:
      charge.settled_amount_minor === null ? null : toWireAmount(charge.settled_amount_minor),
    currency: charge.currency,
    capture_mode: charge.capture_mode,
    status: statusOf(charge),
    customer_id: charge.customer.id,
    payment_token_id: charge.payment_token_id,
    next_action: charge.next_action && { type: 'redirect', url: charge.next_action.url },
    // The record keeps the date of an attempt that has begun.
    next_attempt_at:
      charge.status === 'pending' ? (charge.next_attempt_at?.toISOString() ?? null) : null,
    refunded_minor: toWireAmount(charge.refunded_minor),
    disputed_minor: toWireAmount(charge.disputed_minor),
    failure: presentFailure(charge.failure),
    attention: presentAttention(charge.attention),
    description: charge.description,
    metadata: charge.metadata ?? {},
    created_at: charge.created_at.toISOString(),
    completed_at: charge.completed_at?.toISOString() ?? null,
  };
}

/** The line of a charge in the list for operators. */
export const presentChargeRow = (charge: Charge) => ({
  id: charge._id,
  tenant: charge.tenant_id,
  status: statusOf(charge),
  amount_minor: toWireAmount(charge.amount_minor),
  attempt: charge.attempt,
  attention: charge.attention?.reason ?? null,
  created_at: charge.created_at.toISOString(),
});

/** A charge for operators, with fields that tenants do not get. */
export const presentChargeDetails = (charge: Charge) => ({
  id: charge._id,
  ...presentCharge(charge),
  tenant: charge.tenant_id,
  provider: charge.provider,
  provider_reference: attemptReference(charge),
  surcharge_minor: charge.surcharge_minor === null ? null : toWireAmount(charge.surcharge_minor),
  suspended: charge.suspended.map((payment) => ({
    attempt: payment.attempt,
    amount_minor: toWireAmount(payment.amount_minor),
    is_returning: !isUndecided(payment),
  })),
  submissions: charge.submissions,
});
