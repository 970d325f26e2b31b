import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import { presentAttention, presentFailure } from '../../core/instructions/api-fields.js';
import type { refundResource } from './api.js';
import type { Refund } from './refund.js';

/** A refund as clients see it: every field is named here, so that a new stored field never leaks. */
export function presentRefund(refund: Omit<Refund, 'timeline'>): z.infer<typeof refundResource> {
  return {
    reference: refund.reference,
    charge_reference: refund.charge_reference,
    amount_minor: toWireAmount(refund.amount_minor),
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    failure: presentFailure(refund.failure),
    attention: presentAttention(refund.attention),
    created_at: refund.created_at.toISOString(),
    completed_at: refund.completed_at?.toISOString() ?? null,
  };
}
