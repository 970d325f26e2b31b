import { accounts, posting } from '../../core/ledger/posting.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { cards, isTerminal, type Card } from './card.js';
import { autoReloadAfter } from '../card-fundings/auto-reload.js';

/**
 * Changes a card within a commit; the only way to do so. What a card that is over has left goes back to the wallet as
 * soon as nothing of it is held, less what the tenant owes; one that has fallen below its threshold is reloaded from the
 * wallet. So the item must have read card and wallet, and what it does to the wallet itself is done before.
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

function returnCardBalance(uow: UnitOfWork, card: Card, now: Date): Card {
  const { tenant_id: tenantId, available_minor: left } = card;
  const wallet = uow.wallet(tenantId);
  const repaid = wallet.owedMinor < left ? wallet.owedMinor : left;
  uow.post(
    posting(`${card._id}/balance-return-${card.version}`, tenantId, now, [
      { account: accounts.cardAvailable(card._id), amountMinor: -left },
      { account: accounts.receivable(tenantId), amountMinor: repaid },
      { account: accounts.available(tenantId), amountMinor: left - repaid },
    ]),
  );
  uow.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor + left - repaid,
    owedMinor: wallet.owedMinor - repaid,
  });
  return { ...card, available_minor: 0n };
}
