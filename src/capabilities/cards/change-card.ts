import { accounts, posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { countEvent } from '../../core/instructions/events.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { autoReloadAfter } from '../card-fundings/auto-reload.js';
import { cards, isTerminal, type Card } from './card.js';
import { cardOperations, isShown, type CardOperation } from './card-operation.js';
import { presentCard, presentOperation } from './presenter.js';

/**
 * Changes a card within a commit. Every change of a card goes through this function, because two rules follow any change:
 * a closed or expired card without open holds returns its balance to the wallet, and a balance below the threshold starts
 * an auto-reload. The mutation must have read the card and the wallet, and must make its own change of the wallet first.
 */
export function changeCard(uow: UnitOfWork, before: Card, set: Partial<Card>, now: Date): Card {
  const changed: Card = { ...before, ...set, version: before.version + 1, updated_at: now };
  const mustReturnBalance =
    isTerminal(changed) && changed.open_holds === 0 && changed.available_minor > 0n;
  const left = mustReturnBalance ? returnCardBalance(uow, changed, now) : changed;
  const next = { ...left, auto_reload: autoReloadAfter(uow, before, left, now) };
  uow.change(cards, next);
  return next;
}

/** Moves the balance of the card to the wallet; the tenant's receivable is paid first. */
function returnCardBalance(uow: UnitOfWork, card: Card, now: Date): Card {
  const { tenant_id: tenantId, available_minor: leftMinor } = card;
  const wallet = uow.wallet(tenantId);
  const { repaidMinor, restMinor } = payReceivable(wallet, leftMinor);
  uow.post(
    posting(`${card._id}/balance-return-${card.version}`, tenantId, now, [
      { account: accounts.cardAvailable(card._id), amountMinor: -leftMinor },
      { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
      { account: accounts.available(tenantId), amountMinor: restMinor },
    ]),
  );
  uow.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor + restMinor,
    owedMinor: wallet.owedMinor - repaidMinor,
  });
  return { ...card, available_minor: 0n };
}

/** Changes a card as `changeCard` does, and emits `card.locked` or `card.unlocked` if the change is one of them. */
export function changeCardAndEmit(
  uow: UnitOfWork,
  before: Card,
  set: Partial<Card>,
  now: Date,
): Card {
  const name = eventNameOf(before, { ...before, ...set });
  if (!name) return changeCard(uow, before, set, now);
  const sequence = before.event_sequence + 1;
  const next = changeCard(uow, before, { ...set, event_sequence: sequence }, now);
  const { tenant_id: tenantId, _id: resource } = next;
  uow.emit({ tenantId, resource, sequence, at: now, name, data: presentCard(next) });
  return next;
}

function eventNameOf(before: Card, { status }: Card): string | null {
  if (status === before.status) return null;
  if (status === 'locked') return 'card.locked';
  return status === 'active' && before.status === 'locked' ? 'card.unlocked' : null;
}

/**
 * Changes an operation within a commit and returns it as written. Emits `card.operation.completed` or
 * `card.operation.failed` when an operation that tenants see has ended.
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
  const { next, event } = countEvent(before, after, (_, ended) => ({
    name: `card.operation.${ended.status}`,
    data: presentOperation(ended),
  }));
  uow.change(cardOperations, next);
  uow.emit(event);
  return next;
}

/** Creates an operation within a commit, and emits its event if it has ended at once. Returns it as written. */
export function createOperation(uow: UnitOfWork, created: CardOperation): CardOperation {
  uow.create(cardOperations, created);
  return changeOperation(uow, { ...created, status: 'pending' }, created);
}
