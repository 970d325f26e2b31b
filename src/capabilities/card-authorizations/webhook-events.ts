import type { EventDraft } from '../../core/webhooks/event.js';
import type { CardAuthorization } from './record.js';
import type { DisputeFactKind, FactKind } from './facts.js';
import { presentAuthorization } from './presenter.js';
import { cardAuthorizationResource } from './schema.js';

/** The webhook events about payments with a card. */
export const cardAuthorizationEvents = {
  when: {
    'card.authorization.approved':
      'a payment or an increment of it is approved, also in our place by the issuer or the network',
    'card.authorization.declined':
      'a payment or an increment is declined, or its approval did not reach the issuer',
    'card.authorization.cleared':
      'the network takes money, in part, in full or more than was approved, or corrects the amount',
    'card.authorization.reversed':
      'the hold, or money that was taken, is returned, in part or in full',
    'card.authorization.expired': 'the hold has ended by its time',
    'card.authorization.refunded': 'the merchant returns money, or takes such a refund back',
  },
  data: cardAuthorizationResource,
};

const NAMES: Record<
  Exclude<FactKind, DisputeFactKind>,
  keyof typeof cardAuthorizationEvents.when
> = {
  approved: 'card.authorization.approved',
  declined: 'card.authorization.declined',
  cleared: 'card.authorization.cleared',
  corrected: 'card.authorization.cleared',
  reversed: 'card.authorization.reversed',
  expired: 'card.authorization.expired',
  refunded: 'card.authorization.refunded',
  refund_reversed: 'card.authorization.refunded',
};

/** The event of a change by such a fact. The record has counted it. */
export function authorizationEvent(
  next: CardAuthorization,
  kind: Exclude<FactKind, DisputeFactKind>,
): EventDraft {
  const { tenant_id: tenantId, _id: resource, event_sequence: sequence, updated_at: at } = next;
  const data = presentAuthorization(next);
  return { tenantId, resource, sequence, at, name: NAMES[kind], data };
}
