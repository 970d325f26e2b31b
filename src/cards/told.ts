import type { View } from '../ledger/view.js';
import { countEvent } from '../pursuits/events.js';
import { isOpen } from '../pursuits/record.js';
import type { Card } from './card.js';
import { changeCard } from './change.js';
import { isShown, type CardOperation } from './operation.js';
import { presentCard, presentOperation } from './presenter.js';

/**
 * Changes an operation within a commit, and tells of its end; answers it with its event counted. Tenants hear of no
 * other change, and of nothing that they do not see.
 */
export function changeOperation(
  view: View,
  before: CardOperation,
  after: CardOperation,
): CardOperation {
  if (!isShown(after) || isOpen(after)) {
    view.change('card_operations', after);
    return after;
  }
  const { next, event } = countEvent(before, after, (_, is) => ({
    name: `card.operation.${is.status}`,
    data: presentOperation(is),
  }));
  view.change('card_operations', next);
  view.tell(event);
  return next;
}

/** The same for one that is made, and has perhaps ended with that. */
export function createOperation(view: View, made: CardOperation): CardOperation {
  view.create('card_operations', made);
  return changeOperation(view, { ...made, status: 'pending' }, made);
}

/** Changes a card as `changeCard` does, and tells its tenant where it became locked, or open again. */
export function changeCardAndTell(view: View, before: Card, set: Partial<Card>, now: Date): Card {
  const name = eventOf(before, { ...before, ...set });
  if (!name) return changeCard(view, before, set, now);
  const sequence = (before.events ?? 0) + 1;
  const next = changeCard(view, before, { ...set, events: sequence }, now);
  const { tenant, _id: resource } = next;
  view.tell({ tenant, resource, sequence, at: now, name, data: presentCard(next) });
  return next;
}

function eventOf(before: Card, { status }: Card): string | null {
  if (status === before.status) return null;
  if (status === 'locked') return 'card.locked';
  return status === 'active' && before.status === 'locked' ? 'card.unlocked' : null;
}
