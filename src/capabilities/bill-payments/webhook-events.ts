import { countEvent, countStatusEvent, type WithEvent } from '../../core/instructions/events.js';
import type { BillPayment } from './record.js';
import { presentBillPayment } from './presenter.js';
import { billPaymentResource } from './schema.js';

/** The webhook events of bill payments. Their receipts have no token, because deliveries are stored. */
export const billPaymentEvents = {
  when: {
    'bill_payment.processing': 'a bill payment is about to be sent to the biller',
    'bill_payment.completed':
      'the biller has the money, and the hold is captured from the wallet; again if an operator accepts another amount later',
    'bill_payment.failed':
      'a bill payment is proven to be unpaid, or an operator failed it, also after it was completed',
    'bill_payment.reversed':
      'the biller reversed a payment; amount and fee are in the wallet again',
  },
  data: billPaymentResource,
};

/** Returns the webhook event of a change of status or of the paid amount, and the payment with that event counted. */
export function withBillPaymentEvent(
  before: BillPayment,
  after: BillPayment,
): WithEvent<BillPayment> {
  // No change leads back to `pending`.
  if (after.status === 'pending') return { next: after, event: null };
  const reversed = after.reversed_at !== null && before.reversed_at === null;
  const name: keyof typeof billPaymentEvents.when = `bill_payment.${reversed ? 'reversed' : after.status}`;
  const isAdjusted =
    before.status === 'completed' && before.settled_amount_minor !== after.settled_amount_minor;
  const count = isAdjusted ? countEvent<BillPayment> : countStatusEvent<BillPayment>;
  return count(before, after, (next) => ({ name, data: presentBillPayment(next) }));
}
