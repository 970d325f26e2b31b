import { holdPosting } from '../../core/ledger/posting.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { countEvent, type WithEvent } from '../../core/instructions/events.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { Card, AutoReload } from '../cards/record.js';
import {
  cardOperations,
  newOperation,
  type CardOperation,
  fundingHold,
  type Funding,
} from '../cards/card-operation.js';
import { presentAutoReload } from './presenter.js';
import type { cardAutoReloadEvents } from './webhook-events.js';

/** After this many consecutive refusals no reload is tried until the tenant saves the settings again. */
const MAX_REFUSALS = 3;

/**
 * The auto-reload state after a change of the card's balance. A balance below the threshold is reloaded once; the next reload
 * needs the balance to reach the threshold in between. Only spending and the issuance start a reload: its operation and hold
 * are part of that commit. The mutation must have read the wallet.
 */
export function autoReloadAfter(
  uow: UnitOfWork,
  before: Card,
  after: Card,
  now: Date,
): AutoReload | null {
  const { auto_reload: reload, available_minor: left } = after;
  if (!reload) return null;
  if (left >= reload.threshold_minor) {
    return reload.triggered ? { ...reload, triggered: false } : reload;
  }
  const isIssued = before.status === 'pending' && after.status !== 'pending';
  const isSpent = left < before.available_minor;
  return isIssued || isSpent ? tryAutoReload(uow, after, reload, now) : reload;
}

/** Creates a reload with its hold if the card needs one and the limits allow it. The mutation must have read the wallet. */
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
  // The next spending after the freeze tries again.
  if (wallet.isFrozen) return reload;
  // The daily cap is no refusal: spending on the next day tries again.
  if (usedMinor + amount > reload.daily_cap_minor) return reload;
  if (wallet.availableMinor < amount) {
    return recordRefusal(reload, 'the wallet has too little', now);
  }
  const operation = newAutoReload(card, amount, now);
  uow.changeWallet({ ...wallet, availableMinor: wallet.availableMinor - amount });
  uow.create(cardOperations, operation);
  uow.post(holdPosting(fundingHold(operation)));
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

/** The auto-reload state after a change of an operation. After a refused reload, the next spending tries again. */
export function afterReloadEnded(
  card: Card,
  before: CardOperation,
  after: CardOperation,
  now: Date,
) {
  const { auto_reload: reload } = card;
  if (!reload || after.type !== 'auto_reload' || before.status === after.status) return reload;
  // The issuer has reversed a completed reload. Another reload could be reversed too, without end.
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

/** Returns the card after a change with the event of the stop of its auto-reload counted, and the event; null without a stop. */
export function withStopEvent(before: Card, after: Card): WithEvent<Card> {
  if (before.auto_reload?.attention || !after.auto_reload?.attention) {
    return { next: after, event: null };
  }
  const name: keyof typeof cardAutoReloadEvents.when = 'card.auto_reload.stopped';
  return countEvent(after, after, (next) => ({
    name,
    data: presentAutoReload(next, next.updated_at),
  }));
}
