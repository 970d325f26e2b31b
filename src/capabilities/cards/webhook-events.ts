import { countStatusEvent, type WithEvent } from '../../core/instructions/events.js';
import { isShown, type CardOperation } from './card-operation.js';
import { lockHolders, type Card } from './record.js';
import { presentOperation } from './presenter.js';
import { cardOperationResource, cardResource } from './schema.js';

/** The webhook events about the status of a card. */
export const cardEvents = {
  when: {
    'card.issued': 'the issuer has issued a card',
    'card.failed': 'the issuer has rejected a card',
    'card.locked':
      'a card is locked, by you, its issuer or an operator (`locked_by`), or one more of these locks it: payments are declined and fundings are refused',
    'card.unlocked': 'nobody locks a card any more, and the issuer has confirmed it',
    'card.closed': 'a card is closed for good, by you or its issuer',
    'card.expired': 'the expiry month of a card is over',
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
export function cardEventName(before: Card, after: Card): keyof typeof cardEvents.when | null {
  const { status } = after;
  if (status === before.status) return isLockedByMore(before, after) ? 'card.locked' : null;
  switch (status) {
    case 'failed':
      return 'card.failed';
    case 'closed':
      return 'card.closed';
    case 'expired':
      return 'card.expired';
    case 'active':
    case 'locked':
      if (before.status === 'pending' || before.status === 'failed') return 'card.issued';
      return status === 'locked' ? 'card.locked' : 'card.unlocked';
    case 'pending':
      return null;
  }
}

/** True if one more party locks a locked card. A tenant's lock after its own unlock that nothing has confirmed is none. */
function isLockedByMore(before: Card, after: Card): boolean {
  const known = lockHolders(before);
  return lockHolders(after).some(
    (each) =>
      !known.includes(each) && (each !== 'tenant' || known.some((other) => other !== 'activation')),
  );
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
