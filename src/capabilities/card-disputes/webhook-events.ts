import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import { presentCardDispute } from './presenter.js';
import type { CardDispute, CardDisputeStatus } from './record.js';
import { cardDisputeResource } from './schema.js';

/** The webhook events of disputes of card payments. */
export const cardDisputeEvents = {
  when: {
    'card.dispute.opened': 'the issuer pursues a dispute of a card payment',
    'card.dispute.credited': 'the issuer gives a provisional credit, or takes it back',
    'card.dispute.won':
      'a dispute is won: `credited_minor` is with those who paid, and stays there',
    'card.dispute.lost': 'a dispute is lost: a provisional credit is taken back',
    'card.dispute.cancelled': 'the issuer has withdrawn a dispute on your request',
    'card.dispute.cancellation_refused':
      'the issuer does not withdraw a dispute on your request, and the dispute goes on',
    'card.dispute.failed': 'the issuer has refused a dispute, or an operator has ended it',
  },
  data: cardDisputeResource,
};

const NAMES: Record<Exclude<CardDisputeStatus, 'pending'>, keyof typeof cardDisputeEvents.when> = {
  open: 'card.dispute.opened',
  won: 'card.dispute.won',
  lost: 'card.dispute.lost',
  cancelled: 'card.dispute.cancelled',
  failed: 'card.dispute.failed',
};

/** The webhook event of a change of status, credit or cancellation, and the dispute with that event counted. */
export function withCardDisputeEvent(
  before: CardDispute,
  after: CardDispute,
): WithEvent<CardDispute> {
  const name = nameOf(before, after);
  if (name === null) return { next: after, event: null };
  return countEvent(before, after, (next) => ({ name, data: presentCardDispute(next) }));
}

function nameOf(
  before: CardDispute,
  { status, credited_minor: credited, cancellation }: CardDispute,
): keyof typeof cardDisputeEvents.when | null {
  if (status === 'pending') return null;
  if (status !== before.status) return NAMES[status];
  if (credited !== before.credited_minor) {
    return status === 'open' ? 'card.dispute.credited' : NAMES[status];
  }
  const isRefused = cancellation === 'refused' && before.cancellation === 'requested';
  return isRefused ? 'card.dispute.cancellation_refused' : null;
}
