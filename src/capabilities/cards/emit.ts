import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { countEvent } from '../../core/instructions/events.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { Card } from './card.js';
import { changeCard } from './change.js';
import { cardOperations, isShown, type CardOperation } from './card-operation.js';
import { presentCard, presentOperation } from './presenter.js';

/**
 * Changes an operation within a commit, and tells of its end; answers it with its event counted. Tenants hear of no
 * other change, and of nothing that they do not see.
 */
export function changeOperation(
  uow: UnitOfWork,
  before: CardOperation,
  after: CardOperation,
): CardOperation {
  if (!isShown(after) || isOpen(after)) {
    uow.change(cardOperations, after);
    return after;
  }
  const { next, event } = countEvent(before, after, (_, is) => ({
    name: `card.operation.${is.status}`,
    data: presentOperation(is),
  }));
  uow.change(cardOperations, next);
  uow.emit(event);
  return next;
}

/** The same for one that is made, and has perhaps ended with that. */
export function createOperation(uow: UnitOfWork, made: CardOperation): CardOperation {
  uow.create(cardOperations, made);
  return changeOperation(uow, { ...made, status: 'pending' }, made);
}

/** Changes a card as `changeCard` does, and tells its tenant where it became locked, or open again. */
export function changeCardAndEmit(
  uow: UnitOfWork,
  before: Card,
  set: Partial<Card>,
  now: Date,
): Card {
  const name = eventOf(before, { ...before, ...set });
  if (!name) return changeCard(uow, before, set, now);
  const sequence = (before.event_sequence ?? 0) + 1;
  const next = changeCard(uow, before, { ...set, event_sequence: sequence }, now);
  const { tenant_id: tenantId, _id: resource } = next;
  uow.emit({ tenantId, resource, sequence, at: now, name, data: presentCard(next) });
  return next;
}

function eventOf(before: Card, { status }: Card): string | null {
  if (status === before.status) return null;
  if (status === 'locked') return 'card.locked';
  return status === 'active' && before.status === 'locked' ? 'card.unlocked' : null;
}
