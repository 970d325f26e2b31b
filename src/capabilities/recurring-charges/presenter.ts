import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import type { recurringChargeResource } from './schema.js';
import type { RecurringCharge } from './record.js';

/** A recurring charge as clients see it: every field is named here, so that a new stored field never leaks. */
export function presentRecurringCharge(
  recurring: RecurringCharge,
): z.infer<typeof recurringChargeResource> {
  const { next_charge_at: nextAt, status } = recurring;
  return {
    id: recurring._id,
    payment_token_id: recurring.payment_token_id,
    customer_id: recurring.customer_id,
    amount_minor: toWireAmount(recurring.amount_minor),
    currency: recurring.currency,
    interval: recurring.interval,
    interval_count: recurring.interval_count,
    timezone: recurring.timezone,
    start_at: recurring.start_at.toISOString(),
    end_at: recurring.end_at?.toISOString() ?? null,
    count: recurring.count,
    max_failed_periods: recurring.max_failed_periods ?? null,
    status,
    next_charge_at: status === 'paused' ? null : (nextAt?.toISOString() ?? null),
    charged_periods: recurring.charged_periods,
    last_paid_reference: recurring.last_paid_reference,
    unpaid_references: recurring.unpaid.map(({ reference }) => reference),
    description: recurring.description,
    metadata: recurring.metadata ?? {},
    created_at: recurring.created_at.toISOString(),
    updated_at: recurring.updated_at.toISOString(),
    ended_at: recurring.ended_at?.toISOString() ?? null,
  };
}
