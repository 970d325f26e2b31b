import { countStatusEvent, type WithEvent } from '../../core/instructions/events.js';
import { presentRefund } from './presenter.js';
import type { Refund } from './record.js';
import { refundResource } from './schema.js';

/** The webhook events of refunds. */
export const refundEvents = {
  when: {
    'refund.completed': 'the provider has refunded the customer',
    'refund.failed':
      'a refund is proven to have failed, or an operator failed it; the amount is in the wallet again',
  },
  data: refundResource,
};

/** Returns the webhook event of a refund's end, and the refund with that event counted. An open refund emits none. */
export function withRefundEvent(before: Refund, after: Refund): WithEvent<Refund> {
  const { status } = after;
  if (status !== 'completed' && status !== 'failed') return { next: after, event: null };
  const name: keyof typeof refundEvents.when = `refund.${status}`;
  return countStatusEvent(before, after, (next) => ({ name, data: presentRefund(next) }));
}
