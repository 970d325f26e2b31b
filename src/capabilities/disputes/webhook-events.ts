import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import type { Dispute, DisputeStatus } from './record.js';
import { presentDispute } from './presenter.js';
import { disputeResource } from './schema.js';

/** The webhook events of disputes. */
export const disputeEvents = {
  when: {
    'charge.disputed': 'a charge is disputed, and the amount is taken from the wallet',
    'charge.dispute_won':
      'a dispute is won, and the amount is in the wallet again; or the amount of a won dispute has changed',
    'charge.dispute_lost': 'a dispute is lost, or the amount of a lost dispute has changed',
  },
  data: disputeResource,
};

const NAMES: Record<DisputeStatus, keyof typeof disputeEvents.when> = {
  open: 'charge.disputed',
  won: 'charge.dispute_won',
  lost: 'charge.dispute_lost',
};

/** The webhook event of a new status or amount, and the dispute with that event counted. `before`: null for a new dispute. */
export function withDisputeEvent(before: Dispute | null, after: Dispute): WithEvent<Dispute> {
  const isSame = before?.status === after.status && before.amount_minor === after.amount_minor;
  if (isSame) return { next: after, event: null };
  const name = NAMES[after.status];
  return countEvent(before ?? after, after, (next) => ({ name, data: presentDispute(next) }));
}
