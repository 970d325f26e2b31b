import { accounts, posting } from '../ledger/posting.js';
import type { View } from '../ledger/view.js';
import { isOver, type Card } from './card.js';
import { reloadAfter } from './funding/reload.js';

/**
 * Changes a card within a commit; the only way to do so. What a card that is over has left goes back to the wallet as
 * soon as nothing of it is held, less what the tenant owes; one that has fallen below its threshold is reloaded from the
 * wallet. So the item must have read card and wallet, and what it does to the wallet itself is done before.
 */
export function changeCard(view: View, before: Card, set: Partial<Card>, now: Date): Card {
  const changed: Card = { ...before, ...set, version: before.version + 1, updated_at: now };
  const over = isOver(changed) && changed.open_holds === 0 && changed.available_minor > 0n;
  const left = over ? giveBack(view, changed, now) : changed;
  const next = { ...left, reload: reloadAfter(view, before, left, now) };
  view.change('cards', next);
  return next;
}

function giveBack(view: View, card: Card, now: Date): Card {
  const { tenant, available_minor: left } = card;
  const wallet = view.wallet(tenant);
  const repaid = wallet.owedMinor < left ? wallet.owedMinor : left;
  view.post(
    posting(`${card._id}/give-back-${card.version}`, tenant, now, [
      { account: accounts.cardAvailable(card._id), amountMinor: -left },
      { account: accounts.receivable(tenant), amountMinor: repaid },
      { account: accounts.available(tenant), amountMinor: left - repaid },
    ]),
  );
  view.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor + left - repaid,
    owedMinor: wallet.owedMinor - repaid,
  });
  return { ...card, available_minor: 0n };
}
