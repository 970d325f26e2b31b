import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import type { Dispute, DisputeStatus } from './dispute.js';
import { presentDispute } from './presenter.js';
import { disputeResource } from './schema.js';

/** The webhook events of disputes. */
export const disputeEvents = {
  when: {
    'charge.disputed': 'a charge is disputed, and the amount is taken from the wallet',
    'charge.dispute_won': 'a dispute is won, and the amount is in the wallet again',
    'charge.dispute_lost': 'a dispute is lost',
  },
  data: disputeResource,
};

const NAMES: Record<DisputeStatus, keyof typeof disputeEvents.when> = {
  open: 'charge.disputed',
  won: 'charge.dispute_won',
  lost: 'charge.dispute_lost',
};

/** The webhook event of a new status, and the dispute with that event counted. `before`: null for a new dispute. */
export function withDisputeEvent(before: Dispute | null, after: Dispute): WithEvent<Dispute> {
  if (before?.status === after.status) return { next: after, event: null };
  const name = NAMES[after.status];
  return countEvent(before ?? after, after, (next) => ({ name, data: presentDispute(next) }));
}
