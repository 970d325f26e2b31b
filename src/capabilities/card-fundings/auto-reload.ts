import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { Card, AutoReload } from '../cards/card.js';
import { cardOperations, newOperation, type CardOperation } from '../cards/card-operation.js';
import { holdPosting, type Funding } from './postings.js';

/** After so many refusals in a row nothing is tried any more, until the settings are put again. */
const MAX_REFUSALS = 3;

/**
 * A reload as the commit leaves it that changed what the card has: a fall below the threshold ends when that is there
 * again, and while it lasts it has one reload. Spending tries for it; the operation and its hold are part of that commit.
 */
export function autoReloadAfter(
  uow: UnitOfWork,
  before: Card,
  after: Card,
  now: Date,
): AutoReload | null {
  const { auto_reload: reload, available_minor: left } = after;
  if (!reload) return null;
  if (left >= reload.threshold_minor)
    return reload.triggered ? { ...reload, triggered: false } : reload;
  return left < before.available_minor ? tryAutoReload(uow, after, reload, now) : reload;
}

/** Reloads if that is due and possible. The item must have read the wallet. */
export function tryAutoReload(
  uow: UnitOfWork,
  card: Card,
  reload: AutoReload,
  now: Date,
): AutoReload {
  if (!mustReload(card, reload)) return reload;
  const { amount_minor: amount } = reload;
  const day = lagosDay(now);
  const usedMinor = reload.limit_day === day ? reload.limit_used_minor : 0n;
  const wallet = uow.wallet(card.tenant_id);
  // No refusal: tomorrow's first spending tries it again.
  if (usedMinor + amount > reload.daily_cap_minor) return reload;
  if (wallet.availableMinor < amount)
    return recordRefusal(reload, 'the wallet has too little', now);
  const operation = newAutoReload(card, amount, now);
  uow.changeWallet({ ...wallet, availableMinor: wallet.availableMinor - amount });
  uow.create(cardOperations, operation);
  uow.post(holdPosting(operation));
  return {
    ...reload,
    triggered: true,
    operation_id: operation._id,
    limit_day: day,
    limit_used_minor: usedMinor + amount,
  };
}

function mustReload(
  card: Card,
  { enabled, triggered, operation_id: operationId, attention, threshold_minor }: AutoReload,
) {
  const short = card.available_minor < threshold_minor && card.funding === 'prepaid';
  const free = !triggered && operationId === null && attention === null;
  return enabled && short && free && card.status === 'active';
}

function newAutoReload(
  { _id: card, tenant_id: tenantId, provider, currency }: Card,
  amount: bigint,
  now: Date,
) {
  const detail = 'the card fell below its threshold; the amount is held in the wallet';
  const given = {
    type: 'auto_reload',
    tenant_id: tenantId,
    card_id: card,
    provider,
    currency,
  } as const;
  return newOperation({ ...given, amount_minor: amount }, now, detail) as Funding;
}

/** What the end of a reload means for the next: a refused one may be tried again, by the next spending. */
export function afterReloadEnded(
  card: Card,
  before: CardOperation,
  after: CardOperation,
  now: Date,
) {
  const { auto_reload: reload } = card;
  if (!reload || after.type !== 'auto_reload' || before.status === after.status) return reload;
  // Taken back by the issuer: that is no spending, and would go on for ever.
  if (!isOpen(before)) return { ...reload, triggered: true };
  const done = reload.operation_id === after._id ? { ...reload, operation_id: null } : reload;
  if (after.status === 'completed') return { ...done, refusals: 0 };
  const sameDay = done.limit_day === lagosDay(before.created_at);
  const restoredDailyLimit = sameDay
    ? done.limit_used_minor - (after.amount_minor ?? 0n)
    : done.limit_used_minor;
  return recordRefusal(
    { ...done, triggered: false, limit_used_minor: restoredDailyLimit },
    'the issuer refused',
    now,
  );
}

function recordRefusal(reload: AutoReload, why: string, now: Date): AutoReload {
  const refusals = reload.refusals + 1;
  const reason = `refused ${refusals} times in a row, the last time as ${why}`;
  const attention = refusals >= MAX_REFUSALS ? { since: now, reason } : reload.attention;
  return { ...reload, refusals, attention };
}
