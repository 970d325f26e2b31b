import type { View } from '../ledger/view.js';
import { countEvent } from '../pursuits/events.js';
import type { Card } from './card.js';
import { changeCard } from './change.js';
import { isShown, type CardOperation } from './operation.js';
import { presentCard, presentOperation } from './presenter.js';

/** Changes an operation within a commit, and tells its tenant of its end if it sees such operations at all. */
export function changeOperation(
  view: View,
  before: CardOperation,
  after: CardOperation,
): CardOperation {
  const next = isShown(after) ? told(view, before, after) : after;
  view.change('card_operations', next);
  return next;
}

/** The same for one that is made, and has perhaps ended with that. */
export function createOperation(view: View, made: CardOperation): CardOperation {
  const next = isShown(made) ? told(view, { ...made, status: 'pending' }, made) : made;
  view.create('card_operations', next);
  return next;
}

function told(view: View, before: CardOperation, after: CardOperation): CardOperation {
  // That it is under way concerns nobody: only the first order changes the state to that, and is no event.
  if (after.status === 'processing') return after;
  const { next, event } = countEvent(before, after, (_, is) => ({
    name: `card.operation.${is.status}`,
    data: presentOperation(is),
  }));
  view.tell(event);
  return next;
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
