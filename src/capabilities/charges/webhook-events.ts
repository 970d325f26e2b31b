import type { EventDraft } from '../../core/webhooks/event.js';
import { statusOf, type Charge } from './charge.js';
import { presentCharge } from './presenter.js';
import { chargeResource } from './schema.js';

/** The webhook events of charges. */
export const chargeEvents = {
  when: {
    'charge.requires_action': 'the customer of a charge must act on a page',
    'charge.completed': 'a charge is paid, and the wallet is credited',
    'charge.failed': 'a charge is proven to be unpaid, or an operator failed it',
  },
  data: chargeResource,
};

/**
 * Returns the webhook event of a change of the status that tenants see, and the charge with that event counted. A charge
 * that waits for its next attempt emits none.
 */
export function withChargeEvent(
  before: Charge,
  after: Charge,
): { next: Charge; event: EventDraft | null } {
  const status = statusOf(after);
  if (status === statusOf(before) || status === 'pending' || status === 'processing') {
    return { next: after, event: null };
  }
  const sequence = before.event_sequence + 1;
  const next = { ...after, event_sequence: sequence };
  const { tenant_id: tenantId, _id: resource, updated_at: at } = next;
  const name: keyof typeof chargeEvents.when = `charge.${status}`;
  return { next, event: { tenantId, resource, sequence, at, name, data: presentCharge(next) } };
}
