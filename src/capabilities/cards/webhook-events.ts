import { countStatusEvent, type WithEvent } from '../../core/instructions/events.js';
import { isShown, type CardOperation } from './card-operation.js';
import type { Card } from './card.js';
import { presentOperation } from './presenter.js';
import { cardOperationResource, cardResource } from './schema.js';

/** The webhook events about the status of a card. */
export const cardEvents = {
  when: {
    'card.locked': 'a card is locked: payments are declined and fundings are refused',
    'card.unlocked': 'the issuer has confirmed that a card is unlocked',
  },
  data: cardResource,
};

/** The webhook events about operations on cards. */
export const cardOperationEvents = {
  when: {
    'card.operation.completed':
      'a funding, a reload, an unloading, a lock, an unlock or a closing is completed',
    'card.operation.failed':
      'such an operation was not carried out, missed its deadline, was replaced by a newer one, was ended by the expiry of its card, or was failed by an operator',
  },
  data: cardOperationResource,
};

/** Returns the name of the event of a card's change of status, or null if the change is no event. */
export function cardEventName(before: Card, { status }: Card): keyof typeof cardEvents.when | null {
  if (status === before.status) return null;
  if (status === 'locked') return 'card.locked';
  return status === 'active' && before.status === 'locked' ? 'card.unlocked' : null;
}

/** Returns the event of an operation's end, and the operation with it counted. Operations that tenants do not see emit none. */
export function withOperationEvent(
  before: CardOperation,
  after: CardOperation,
): WithEvent<CardOperation> {
  const { status } = after;
  if (!isShown(after) || (status !== 'completed' && status !== 'failed')) {
    return { next: after, event: null };
  }
  const name: keyof typeof cardOperationEvents.when = `card.operation.${status}`;
  return countStatusEvent(before, after, (next) => ({ name, data: presentOperation(next) }));
}
