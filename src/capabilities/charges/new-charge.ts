import { newId } from '../../shared/ids.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import type { Charge } from './charge.js';

/** The given fields of a new charge. */
export type ChargeOrder = Pick<
  Charge,
  | 'tenant_id'
  | 'amount_minor'
  | 'capture_mode'
  | 'customer'
  | 'payment_token_id'
  | 'description'
  | 'metadata'
  | 'provider'
  | 'dunning_days'
> & {
  /** Its own id where it is not given. */
  reference?: string | undefined;
  return_url?: string | null;
  /** Time that the customer has to act. Without it the charge waits for no customer. */
  expiresAfterMs?: number;
  recurring?: Charge['recurring'];
};

/** A charge as it is accepted, with everything that does not depend on the commit. */
export function newCharge(order: ChargeOrder, now: Date): Charge {
  const { reference, return_url = null, recurring = null, expiresAfterMs, ...given } = order;
  const id = newId('charge');
  const detail = recurring === null ? null : `period ${recurring.period} of ${recurring.id}`;
  return {
    _id: id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    currency: 'NGN',
    reference: reference ?? id,
    return_url,
    recurring,
    next_action: null,
    attempt: 1,
    next_attempt_at: null,
    first_declined_at: null,
    expires_at: expiresAfterMs === undefined ? null : new Date(now.getTime() + expiresAfterMs),
    provider_fee_minor: null,
    refunded_minor: 0n,
    refund_pending_minor: 0n,
    failure: null,
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    attention: null,
    monitor_until: null,
    next_check_at: new Date(now.getTime() + START_WITHIN_MS),
    timeline: [timelineEntry(now, 'accepted', recurring === null ? 'api' : 'bursar', { detail })],
    created_at: now,
    updated_at: now,
    completed_at: null,
    ...given,
  };
}
