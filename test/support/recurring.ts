import { newId } from '../../src/ids.js';
import type { RecurringCharge } from '../../src/payments/recurring/recurring-charge.js';

/** A recurring charge as acceptance makes it: every month from its start. */
export function recurringCharge(changes: Partial<RecurringCharge> = {}): RecurringCharge {
  const start = changes.start_at ?? new Date('2026-01-31T08:00:00.000Z');
  return {
    _id: newId('recurringCharge'),
    tenant: 'ten_a',
    version: 1,
    payment_token: 'tok_a',
    customer_id: 'customer-1',
    amount_minor: 500_000n,
    currency: 'NGN',
    interval: 'month',
    interval_count: 1,
    timezone: 'Africa/Lagos',
    start_at: start,
    end_at: null,
    count: null,
    description: null,
    metadata: null,
    status: 'active',
    next_period: 0,
    next_at: start,
    charged: 0,
    unpaid: [],
    last_paid: null,
    paused_at: null,
    pauses: [],
    due_at: start,
    created_at: start,
    updated_at: start,
    ended_at: null,
    ...changes,
  };
}
