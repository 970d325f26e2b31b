import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { timelineEntry, type TimelineEntry } from '../../core/instructions/timeline.js';
import type { Card } from '../cards/card.js';
import { changeCard } from '../cards/change-card.js';
import { deltaTo, allocate, balanceAfter, type LedgerDelta, type Payment } from './balance.js';
import { cardAuthorizations, type CardAuthorization } from './card-authorization.js';
import type { ApplyCardAuthorizationFact } from './mutations.js';
import { deltaPosting, stepOf } from './postings.js';
import { restoreDailyLimit } from './rules.js';

type FactContext = {
  card: Card;
  authorization: CardAuthorization;
  item: ApplyCardAuthorizationFact;
};

/** Lets a new fact have its effect: what it moves, and how the authorization stands from now on. */
export function applyAuthorizationFact(
  uow: UnitOfWork,
  context: FactContext,
  now: Date,
): CardAuthorization {
  const { authorization: before, item } = context;
  const facts = [...before.facts, item.fact];
  const balance = balanceAfter(before, facts);
  const delta = deltaTo(before, balance);
  const owedMinor = moveMoney(uow, context, delta, now);
  const problem = attentionReason(context, owedMinor);
  const next: CardAuthorization = {
    ...before,
    version: before.version + 1,
    status: balance.status,
    held_minor: balance.heldMinor,
    cleared_minor: balance.clearedMinor,
    facts,
    attention: problem === null ? before.attention : { since: now, reason: problem },
    next_check_at: null,
    timeline: [...before.timeline, ...entries(context, delta, problem, now)],
    updated_at: now,
  };
  uow.change(cardAuthorizations, next);
  return next;
}

/** Moves the money, of the card and of the wallet; answers what neither had, which the tenant owes now. */
function moveMoney(
  uow: UnitOfWork,
  { card, authorization, item }: FactContext,
  delta: LedgerDelta,
  now: Date,
) {
  const { releasedMinor, takenMinor, returnedMinor } = delta;
  if (releasedMinor + takenMinor + returnedMinor === 0n) return 0n;
  const wallet = uow.wallet(card.tenant_id);
  const payment = allocate(takenMinor, {
    heldMinor: releasedMinor,
    cardMinor: card.available_minor,
    walletMinor: wallet.availableMinor,
  });
  // What comes from outside pays what is owed first.
  const repaidMinor = wallet.owedMinor < returnedMinor ? wallet.owedMinor : returnedMinor;
  const backMinor = releasedMinor - payment.heldMinor + returnedMinor - repaidMinor;
  const [toCard, toWallet] =
    authorization.funding_source === 'card' ? [backMinor, 0n] : [0n, backMinor];
  const step = stepOf(authorization, item.fact);
  const all = { ...delta, payment, repaidMinor, backMinor };
  uow.post(deltaPosting(authorization, step, now, all));
  const availableMinor = toWallet - payment.walletMinor;
  const owedMinor = payment.owedMinor - repaidMinor;
  // As a rule only the card is touched, and the wallet's document is one that many want.
  if (availableMinor !== 0n || owedMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + availableMinor,
      owedMinor: wallet.owedMinor + owedMinor,
    });
  }
  changeCard(uow, card, cardAfter(card, authorization, { payment, toCard, ...delta }), now);
  return payment.owedMinor;
}

function cardAfter(
  card: Card,
  authorization: CardAuthorization,
  delta: LedgerDelta & { payment: Payment; toCard: bigint },
): Partial<Card> {
  const { releasedMinor, payment, toCard } = delta;
  const { funding_source: of, created_at: decidedAt } = authorization;
  return {
    available_minor: card.available_minor - payment.cardMinor + toCard,
    held_minor: of === 'card' ? card.held_minor - releasedMinor : card.held_minor,
    open_holds: releasedMinor > 0n ? card.open_holds - 1 : card.open_holds,
    daily_spend: restoreDailyLimit(
      card.daily_spend,
      lagosDay(decidedAt),
      restoredDailyLimit(authorization, delta),
    ),
  };
}

/** The day counts what was approved, and of that what is held or was taken: what was never approved is none of it. */
function restoredDailyLimit(before: CardAuthorization, delta: LedgerDelta): bigint {
  const { approved, amount_minor: asked, held_minor: held, cleared_minor: cleared } = before;
  if (!approved) return 0n;
  const counted = (minor: bigint) => (minor < asked ? minor : asked);
  const left = cleared + delta.takenMinor - delta.returnedMinor;
  return counted(held + cleared) - counted(held - delta.releasedMinor + left);
}

/** Why somebody should look at it: money was taken that we had not agreed to, or that was not there. */
function attentionReason({ authorization, item }: FactContext, owedMinor: bigint): string | null {
  if (owedMinor > 0n) return 'more was taken than there was: the tenant owes the rest';
  // An approval that the issuer has not heard, or that we took back, is none.
  const agreed = authorization.approved && !authorization.facts.some((f) => f.kind === 'declined');
  const notApproved = item.fact.kind === 'cleared' && !agreed;
  return notApproved ? 'money was taken that we had not approved' : null;
}

function entries(
  { authorization, item }: FactContext,
  { releasedMinor, takenMinor, returnedMinor }: LedgerDelta,
  problem: string | null,
  now: Date,
): TimelineEntry[] {
  const { kind, key, amount_minor: amount } = item.fact;
  const detail = kind === 'cleared' ? `cleared: ${amount}` : kind;
  const reported =
    item.by === 'issuer'
      ? timelineEntry(now, 'webhook', authorization.provider, { detail, providerRequestId: key })
      : timelineEntry(now, 'note', 'bursar', { detail: item.code ?? detail });
  const done: TimelineEntry[] = [];
  if (takenMinor > 0n) done.push(timelineEntry(now, 'captured', 'bursar', { detail: 'taken' }));
  else if (releasedMinor > 0n) {
    done.push(timelineEntry(now, 'released', 'bursar', { detail: 'the hold was given back' }));
  }
  if (returnedMinor > 0n) {
    done.push(timelineEntry(now, 'reversed', 'bursar', { detail: 'what was taken came back' }));
  }
  if (problem !== null) {
    done.push(timelineEntry(now, 'attention_raised', 'bursar', { detail: problem }));
  }
  return [reported, ...done];
}
