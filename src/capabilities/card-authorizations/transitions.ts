import { payReceivable } from '../../core/ledger/receivable.js';
import type { Posting } from '../../core/ledger/posting.js';
import { lagosDay, type Wallet } from '../../core/ledger/wallet.js';
import { timelineEntry, type TimelineEntry } from '../../core/instructions/timeline.js';
import type { Card } from '../cards/card.js';
import type {
  AuthorizationFact,
  CardAuthorization,
  AuthorizationStatus,
} from './card-authorization.js';
import type { ApplyCardAuthorizationFact } from './mutations.js';
import { deltaPosting, stepOf } from './postings.js';
import { restoreDailyLimit } from './rules.js';

/** The status of an authorization, with the amounts held and cleared. */
type AuthorizationBalance = {
  status: AuthorizationStatus;
  heldMinor: bigint;
  clearedMinor: bigint;
};

/**
 * The balance of an authorization after all its facts. Facts are applied in the order in which they happened, so their order
 * of arrival does not change the result.
 *
 * | fact     | effect                                                                              |
 * | -------- | ----------------------------------------------------------------------------------- |
 * | declined | releases the hold: the issuer did not receive our approval, or it was voided        |
 * | cleared  | takes the amount, also without a hold; releases the rest of the hold                |
 * | reversed | returns everything taken before it, and releases the hold                           |
 * | expired  | releases the hold                                                                   |
 */
export function balanceAfter(
  { approved, held_minor: held }: Pick<CardAuthorization, 'approved' | 'held_minor'>,
  facts: readonly AuthorizationFact[],
): AuthorizationBalance {
  const inOrder = facts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const first: AuthorizationBalance = {
    status: approved ? 'approved' : 'declined',
    // Every fact ends the hold.
    heldMinor: facts.length === 0 ? held : 0n,
    clearedMinor: 0n,
  };
  return inOrder.reduce(balanceAfterFact, first);
}

function balanceAfterFact(
  balance: AuthorizationBalance,
  { kind, amount_minor: amount }: AuthorizationFact,
): AuthorizationBalance {
  const { status, clearedMinor } = balance;
  switch (kind) {
    case 'cleared':
      return { ...balance, status: 'cleared', clearedMinor: clearedMinor + amount };
    case 'reversed':
      // A declined authorization without a clearing has nothing to reverse.
      return status === 'declined' ? balance : { ...balance, status: 'reversed', clearedMinor: 0n };
    case 'declined':
    case 'expired':
      return status === 'approved' ? { ...balance, status: kind } : balance;
  }
}

/** The movement of money between two balances of an authorization. Amounts are not negative. */
export type LedgerDelta = {
  /** Released from the hold. */
  releasedMinor: bigint;
  /** Paid to the network. */
  takenMinor: bigint;
  /** Returned by the network. */
  returnedMinor: bigint;
};

/** The movement from the stored balance of an authorization to a new one. */
function deltaTo(
  { held_minor: held, cleared_minor: cleared }: CardAuthorization,
  { heldMinor, clearedMinor }: AuthorizationBalance,
): LedgerDelta {
  const more = clearedMinor - cleared;
  return {
    releasedMinor: held - heldMinor,
    takenMinor: more > 0n ? more : 0n,
    returnedMinor: more < 0n ? -more : 0n,
  };
}

/** An amount divided among its payers. */
export type Allocation = {
  heldMinor: bigint;
  cardMinor: bigint;
  walletMinor: bigint;
  receivableMinor: bigint;
};

/** Divides an amount: the hold pays first, then the card, then the wallet. The tenant owes the rest. */
export function allocate(
  amountMinor: bigint,
  has: { heldMinor: bigint; cardMinor: bigint; walletMinor: bigint },
): Allocation {
  let left = amountMinor;
  const take = (available: bigint) => {
    const part = available < left ? available : left;
    left -= part;
    return part;
  };
  const heldMinor = take(has.heldMinor);
  const cardMinor = take(has.cardMinor);
  const walletMinor = take(has.walletMinor);
  return { heldMinor, cardMinor, walletMinor, receivableMinor: left };
}

/** The effects of a fact on the money: amounts are changes (negative: decreases), `card` is null if it does not change. */
type MoneyEffects = {
  postings: Posting[];
  card: Partial<Card> | null;
  availableMinor: bigint;
  receivableMinor: bigint;
};

/** The effect of a fact: the next record, and what changes on the card, in the wallet and in the ledger. */
type AuthorizationTransition = { next: CardAuthorization } & MoneyEffects;

/** The state machine of an authorization that has been decided. Facts may arrive in any order; see `balanceAfter`. */
export function transitionAuthorization(
  authorization: CardAuthorization,
  { card, wallet }: { card: Card; wallet: Wallet },
  input: Pick<ApplyCardAuthorizationFact, 'fact' | 'by' | 'code'>,
  now: Date,
): AuthorizationTransition {
  const { fact } = input;
  const facts = [...authorization.facts, fact];
  const balance = balanceAfter(authorization, facts);
  const delta = deltaTo(authorization, balance);
  const { shortfallMinor, ...effects } = moveMoney(
    authorization,
    { card, wallet, fact },
    delta,
    now,
  );
  const problem = attentionReason(authorization, fact, shortfallMinor);
  const next: CardAuthorization = {
    ...authorization,
    version: authorization.version + 1,
    status: balance.status,
    held_minor: balance.heldMinor,
    cleared_minor: balance.clearedMinor,
    facts,
    attention: problem === null ? authorization.attention : { since: now, reason: problem },
    next_check_at: null,
    timeline: [
      ...authorization.timeline,
      ...timelineEntries(authorization, input, { ...delta, problem }, now),
    ],
    updated_at: now,
  };
  return { next, ...effects };
}

const NO_EFFECTS = {
  postings: [],
  card: null,
  availableMinor: 0n,
  receivableMinor: 0n,
  shortfallMinor: 0n,
};

/** The effects of a delta on card and wallet. `shortfallMinor` is what neither can pay; the tenant owes it. */
function moveMoney(
  authorization: CardAuthorization,
  { card, wallet, fact }: { card: Card; wallet: Wallet; fact: AuthorizationFact },
  delta: LedgerDelta,
  now: Date,
): MoneyEffects & { shortfallMinor: bigint } {
  const { releasedMinor, takenMinor, returnedMinor } = delta;
  if (releasedMinor + takenMinor + returnedMinor === 0n) return NO_EFFECTS;
  const allocation = allocate(takenMinor, {
    heldMinor: releasedMinor,
    cardMinor: card.available_minor,
    walletMinor: wallet.availableMinor,
  });
  const { repaidMinor, restMinor } = payReceivable(wallet, returnedMinor);
  const backMinor = releasedMinor - allocation.heldMinor + restMinor;
  const [toCardMinor, toWalletMinor] =
    authorization.funding_source === 'card' ? [backMinor, 0n] : [0n, backMinor];
  const step = stepOf(authorization, fact);
  const moved = { ...delta, allocation, repaidMinor, backMinor };
  return {
    postings: [deltaPosting(authorization, step, now, moved)],
    card: cardAfter(card, authorization, { ...delta, allocation, toCardMinor }),
    availableMinor: toWalletMinor - allocation.walletMinor,
    receivableMinor: allocation.receivableMinor - repaidMinor,
    shortfallMinor: allocation.receivableMinor,
  };
}

function cardAfter(
  card: Card,
  authorization: CardAuthorization,
  delta: LedgerDelta & { allocation: Allocation; toCardMinor: bigint },
): Partial<Card> {
  const { releasedMinor, allocation, toCardMinor } = delta;
  const { funding_source: source, created_at: decidedAt } = authorization;
  return {
    available_minor: card.available_minor - allocation.cardMinor + toCardMinor,
    held_minor: source === 'card' ? card.held_minor - releasedMinor : card.held_minor,
    open_holds: releasedMinor > 0n ? card.open_holds - 1 : card.open_holds,
    daily_spend: restoreDailyLimit(
      card.daily_spend,
      lagosDay(decidedAt),
      restoredMinor(authorization, delta),
    ),
  };
}

/** The part of the daily limit that is restored: the limit counts approved amounts as far as they are held or cleared. */
function restoredMinor(before: CardAuthorization, delta: LedgerDelta): bigint {
  const {
    approved,
    amount_minor: approvedMinor,
    held_minor: held,
    cleared_minor: cleared,
  } = before;
  if (!approved) return 0n;
  const counted = (minor: bigint) => (minor < approvedMinor ? minor : approvedMinor);
  const clearedMinor = cleared + delta.takenMinor - delta.returnedMinor;
  return counted(held + cleared) - counted(held - delta.releasedMinor + clearedMinor);
}

/** The reason for an operator's attention: money was taken without our approval, or without funds. Otherwise null. */
function attentionReason(
  { approved, facts }: CardAuthorization,
  fact: AuthorizationFact,
  shortfallMinor: bigint,
): string | null {
  if (shortfallMinor > 0n) return 'more was taken than there was: the tenant owes the rest';
  // An approval that the issuer did not receive, or that was voided, does not count.
  const agreed = approved && !facts.some(({ kind }) => kind === 'declined');
  const notApproved = fact.kind === 'cleared' && !agreed;
  return notApproved ? 'money was taken that we had not approved' : null;
}

function timelineEntries(
  { provider }: CardAuthorization,
  { fact, by, code }: Pick<ApplyCardAuthorizationFact, 'fact' | 'by' | 'code'>,
  effect: LedgerDelta & { problem: string | null },
  now: Date,
): TimelineEntry[] {
  const { releasedMinor, takenMinor, returnedMinor, problem } = effect;
  const { kind, key, amount_minor: amount } = fact;
  const detail = kind === 'cleared' ? `cleared: ${amount}` : kind;
  const entries: TimelineEntry[] = [
    by === 'issuer'
      ? timelineEntry(now, 'webhook', provider, { detail, providerRequestId: key })
      : timelineEntry(now, 'note', 'bursar', { detail: code ?? detail }),
  ];
  const add = (type: TimelineEntry['type'], text: string) =>
    void entries.push(timelineEntry(now, type, 'bursar', { detail: text }));
  if (takenMinor > 0n) add('captured', 'taken');
  else if (releasedMinor > 0n) add('released', 'the hold was released');
  if (returnedMinor > 0n) add('reversed', 'the amount taken was returned');
  if (problem !== null) add('attention_raised', problem);
  return entries;
}
