import type { View } from '../../ledger/view.js';
import { lagosDay } from '../../ledger/wallet.js';
import { isOpen } from '../../pursuits/record.js';
import type { Card, CardReload } from '../card.js';
import { newOperation, type CardOperation } from '../operation.js';
import { holdPosting, type Funding } from './postings.js';

/** After so many refusals in a row nothing is tried any more, until the settings are put again. */
const MAX_REFUSALS = 3;

/**
 * A reload as the commit leaves it that changed what the card has: a fall below the threshold ends when that is there
 * again, and while it lasts it has one reload. Spending tries for it; the operation and its hold are part of that commit.
 */
export function reloadAfter(view: View, before: Card, after: Card, now: Date): CardReload | null {
  const { reload, available_minor: left } = after;
  if (!reload) return null;
  if (left >= reload.threshold_minor) return reload.used ? { ...reload, used: false } : reload;
  return left < before.available_minor ? tryReload(view, after, reload, now) : reload;
}

/** Reloads if that is due and possible. The item must have read the wallet. */
export function tryReload(view: View, card: Card, reload: CardReload, now: Date): CardReload {
  if (!isDue(card, reload)) return reload;
  const { amount_minor: amount } = reload;
  const day = lagosDay(now);
  const usedMinor = reload.day === day ? reload.day_minor : 0n;
  const wallet = view.wallet(card.tenant);
  // No refusal: tomorrow's first spending tries it again.
  if (usedMinor + amount > reload.daily_cap_minor) return reload;
  if (wallet.availableMinor < amount) return refused(reload, 'the wallet has too little', now);
  const operation = newReload(card, amount, now);
  view.changeWallet({ ...wallet, availableMinor: wallet.availableMinor - amount });
  view.create('card_operations', operation);
  view.post(holdPosting(operation));
  return { ...reload, used: true, operation: operation._id, day, day_minor: usedMinor + amount };
}

function isDue(card: Card, { enabled, used, operation, attention, threshold_minor }: CardReload) {
  const short = card.available_minor < threshold_minor && card.funding === 'prepaid';
  const free = !used && operation === null && attention === null;
  return enabled && short && free && card.status === 'active';
}

function newReload({ _id: card, tenant, provider, currency }: Card, amount: bigint, now: Date) {
  const detail = 'the card fell below its threshold; the amount is held in the wallet';
  const given = { type: 'auto_reload', tenant, card, provider, currency } as const;
  return newOperation({ ...given, amount_minor: amount }, now, detail) as Funding;
}

/** What the end of a reload means for the next: a refused one may be tried again, by the next spending. */
export function reloadEnded(card: Card, before: CardOperation, after: CardOperation, now: Date) {
  const { reload } = card;
  if (!reload || after.type !== 'auto_reload' || before.status === after.status) return reload;
  // Taken back by the issuer: that is no spending, and would go on for ever.
  if (!isOpen(before)) return { ...reload, used: true };
  const done = reload.operation === after._id ? { ...reload, operation: null } : reload;
  if (after.status === 'completed') return { ...done, refusals: 0 };
  const sameDay = done.day === lagosDay(before.created_at);
  const givenBack = sameDay ? done.day_minor - (after.amount_minor ?? 0n) : done.day_minor;
  return refused({ ...done, used: false, day_minor: givenBack }, 'the issuer refused', now);
}

function refused(reload: CardReload, why: string, now: Date): CardReload {
  const refusals = reload.refusals + 1;
  const reason = `refused ${refusals} times in a row, the last time as ${why}`;
  const attention = refusals >= MAX_REFUSALS ? { since: now, reason } : reload.attention;
  return { ...reload, refusals, attention };
}
