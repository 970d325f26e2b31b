import { countEvent, countStatusEvent, type WithEvent } from '../../core/instructions/events.js';
import { presentTransfer } from './presenter.js';
import { transferResource } from './schema.js';
import type { Transfer } from './record.js';

/** The webhook events of transfers. */
export const transferEvents = {
  when: {
    'transfer.processing': 'a transfer is about to be sent to the bank',
    'transfer.completed':
      'the bank has paid, and the hold is captured from the wallet; again if an operator accepts another amount later',
    'transfer.failed':
      'a transfer is proven to be unpaid, or an operator failed it, also after it was completed',
    'transfer.reversed': 'the bank reversed a payment; amount and fee are in the wallet again',
  },
  data: transferResource,
};

/** Returns the webhook event of a change of status or of the paid amount, and the transfer with that event counted. */
export function withTransferEvent(before: Transfer, after: Transfer): WithEvent<Transfer> {
  // No change leads back to `pending`.
  if (after.status === 'pending') return { next: after, event: null };
  const reversed = after.reversed_at !== null && before.reversed_at === null;
  const name: keyof typeof transferEvents.when = `transfer.${reversed ? 'reversed' : after.status}`;
  const isAdjusted =
    before.status === 'completed' && before.settled_amount_minor !== after.settled_amount_minor;
  const count = isAdjusted ? countEvent<Transfer> : countStatusEvent<Transfer>;
  return count(before, after, (next) => ({ name, data: presentTransfer(next) }));
}
