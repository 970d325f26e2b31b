import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import { statusOf, type Charge } from './record.js';
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
export function withChargeEvent(before: Charge, after: Charge): WithEvent<Charge> {
  const status = statusOf(after);
  if (status === statusOf(before) || status === 'pending' || status === 'processing') {
    return { next: after, event: null };
  }
  const name: keyof typeof chargeEvents.when = `charge.${status}`;
  return countEvent(before, after, (next) => ({ name, data: presentCharge(next) }));
}
