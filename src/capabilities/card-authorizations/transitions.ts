import type { Posting } from '../../core/ledger/posting.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import { timelineEntry, type TimelineEntry } from '../../core/instructions/instruction.js';
import { DAY_MS } from '../../shared/durations.js';
import type { Card } from '../cards/record.js';
import {
  dayOf,
  excessOf,
  ISSUER_SILENT,
  nextVerification,
  OVER_RETURNED,
  type CardAuthorization,
} from './record.js';
import {
  approvalsIn,
  approvedIn,
  balanceAfter,
  historyOf,
  type AuthorizationBalance,
  type AuthorizationFact,
} from './facts.js';
import type { ApplyCardAuthorizationFact, AuthorizationTerms } from './mutations.js';
import {
  deltaOf,
  divide,
  holdAsFarAs,
  holdsOf,
  isDividedByTime,
  partOf,
  payersOf,
  type Division,
  type Holds,
  type LedgerDelta,
} from './payers.js';
import { deltaPosting, settle, stepsOfFacts } from './postings.js';
import { addDailySpend, isOverCleared, restoreDailyLimit } from './rules.js';

/** The effects of a fact on the money: amounts are changes (negative: decreases), `card` is null if it does not change. */
type MoneyEffects = {
  postings: Posting[];
  card: Partial<Card> | null;
  availableMinor: bigint;
  receivableMinor: bigint;
};

/** The effect of a fact: the next record, and what changes on the card, in the wallet and in the ledger. */
type AuthorizationTransition = { next: CardAuthorization } & MoneyEffects;

/** A fact, and what is needed to apply it. */
export type AppliedFact = {
  fact: AuthorizationFact;
  terms: AuthorizationTerms;
  by: ApplyCardAuthorizationFact['by'] | 'decision' | 'dispute';
  code: string | null;
};

/** The state machine of an authorization. Facts may arrive in any order; see `balanceAfter`. */
export function transitionAuthorization(
  authorization: CardAuthorization,
  { card, wallet }: { card: Card; wallet: Wallet },
  input: AppliedFact,
  now: Date,
): AuthorizationTransition {
  const divided = dividedBefore(authorization);
  const { card_owes_minor: owes = 0n } = authorization;
  const cardHad = card.available_minor + partOf(divided, 'card') - owes;
  const fact = { ...input.fact, card_had_minor: cardHad };
  const facts = [...authorization.facts, fact];
  const balance = balanceAfter(facts);
  const delta = deltaOf(storedAmounts(authorization), balance, heldBy(fact, { card, wallet }));
  const otherwise = card.funding === 'jit' ? 'wallet' : 'card';
  const after = payersOf(facts, otherwise) ?? divide(divided, delta, cardHad, otherwise);
  const has = { cardMinor: card.available_minor, wallet };
  const settled = settle([divided, after], owes, has);
  const problem =
    attentionReason({ before: authorization.facts, facts, fact }, settled, input.terms) ??
    excessReason(authorization, balance) ??
    (settled.cardOwesMinor > most(owes, 0n) ? PAID_FOR_CARD : null);
  const next: CardAuthorization = {
    ...authorization,
    version: authorization.version + 1,
    status: balance.status,
    held_minor: balance.heldMinor,
    held_wallet_minor: after.holds.walletMinor,
    cleared_minor: balance.clearedMinor,
    refunded_minor: balance.refundedMinor,
    credited_minor: balance.creditedMinor,
    payments: after.payments,
    ...((owes !== 0n || settled.cardOwesMinor !== 0n) && {
      card_owes_minor: settled.cardOwesMinor,
    }),
    facts,
    ...approvalFields(authorization, { ...input, fact }, facts, now),
    attention: problem === null ? authorization.attention : { since: now, reason: problem },
    timeline: [...authorization.timeline, ...timelineEntries(input, { ...delta, problem }, now)],
    updated_at: now,
  };
  if (balance.heldMinor === 0n) {
    next.next_check_at = null;
    next.verify_at = null;
    if (next.attention?.reason === ISSUER_SILENT) next.attention = null;
  }
  const step = stepsOfFacts(facts).at(-1) ?? '';
  const moved = deltaPosting(authorization, [step, now], [divided, after], settled);
  if (!moved) return { next, ...NO_MONEY };
  return {
    next,
    postings: [moved],
    card: cardAfter({ before: authorization, next, card, cardMinor: settled.cardMinor, fact }, now),
    availableMinor: settled.walletMinor,
    receivableMinor: settled.receivableMinor,
  };
}

const PAID_FOR_CARD = 'the wallet has paid what the card had spent';
const most = (a: bigint, b: bigint) => (a > b ? a : b);

const NO_MONEY: MoneyEffects = {
  postings: [],
  card: null,
  availableMinor: 0n,
  receivableMinor: 0n,
};

/** The parts of card and wallet as they are stored. */
const dividedBefore = ({
  held_minor: heldMinor,
  held_wallet_minor: walletMinor,
  payments,
}: CardAuthorization): Division => ({
  holds: { cardMinor: heldMinor - walletMinor, walletMinor },
  payments,
});

/** The amounts as they are stored. */
const storedAmounts = (one: CardAuthorization) => ({
  heldMinor: one.held_minor,
  clearedMinor: one.cleared_minor,
  refundedMinor: one.refunded_minor,
  creditedMinor: one.credited_minor ?? 0n,
});

/** Divides a new hold as its approval says. An approval in our place, or in place of another one, holds what there is. */
function heldBy(
  fact: AuthorizationFact,
  { card, wallet }: { card: Card; wallet: Wallet },
): (minor: bigint) => Holds {
  return (minor) =>
    fact.kind === 'approved' && !isDividedByTime(fact)
      ? holdsOf(fact, minor)
      : holdAsFarAs(minor, spendable(card, wallet));
}

/** The balances that an approval in our place may hold. */
export const spendable = (card: Card, wallet: Wallet) => ({
  cardMinor: card.available_minor,
  walletMinor: card.funding === 'jit' ? wallet.availableMinor : 0n,
});

/** The fields that only approvals and their ends change. */
function approvalFields(
  before: CardAuthorization,
  { fact, terms }: AppliedFact,
  facts: readonly AuthorizationFact[],
  now: Date,
): Partial<CardAuthorization> {
  const approvedMinor = approvedIn(facts);
  const standIn = approvalsIn(facts).findLast(({ stand_in: by }) => by !== null)?.stand_in ?? null;
  const amount = { stand_in: standIn, ...(approvedMinor > 0n && { amount_minor: approvedMinor }) };
  if (fact.kind !== 'approved' || fact.held_minor === 0n) return amount;
  const end = new Date(now.getTime() + terms.holdMs);
  const { expires_at: earlier } = before;
  const expiresAt = namedEnd(facts) ?? (earlier !== null && earlier > end ? earlier : end);
  const verifyAt = nextVerification(expiresAt, now);
  return {
    ...amount,
    expires_at: expiresAt,
    verify_at: verifyAt,
    // Nothing is to be done before: the workflow begins when the issuer must be asked.
    next_check_at: verifyAt,
  };
}

/** An operator is called about a silent issuer after the end of the hold, so a named end is not later than this after its approval. */
const NAMED_END_WITHIN_MS = 90 * DAY_MS;

/** The latest end of the hold that the issuer has named; null if it has named none. */
function namedEnd(facts: readonly AuthorizationFact[]): Date | null {
  const ends = approvalsIn(facts).flatMap(({ hold_until: end, at }) =>
    end === undefined ? [] : Math.min(end.getTime(), at.getTime() + NAMED_END_WITHIN_MS),
  );
  return ends.length > 0 ? new Date(Math.max(...ends)) : null;
}

function cardAfter(
  {
    before,
    next,
    card,
    cardMinor,
    fact,
  }: {
    before: CardAuthorization;
    next: CardAuthorization;
    card: Card;
    cardMinor: bigint;
    fact: AuthorizationFact;
  },
  now: Date,
): Partial<Card> {
  const onCard = (one: CardAuthorization) => one.held_minor - one.held_wallet_minor;
  const opened = Number(next.held_minor > 0n) - Number(before.held_minor > 0n);
  const { day } = card.daily_spend;
  return {
    available_minor: card.available_minor + cardMinor,
    held_minor: card.held_minor + onCard(next) - onCard(before),
    open_holds: card.open_holds + opened,
    daily_spend:
      fact.kind === 'approved'
        ? addDailySpend(card.daily_spend, now, fact.amount_minor)
        : restoreDailyLimit(card.daily_spend, countedOn(before, day) - countedOn(next, day)),
  };
}

/** The part of the daily limits that a payment uses: its approved amounts as far as they are held or taken. */
function countedIn(facts: readonly AuthorizationFact[]): bigint {
  const { heldMinor, clearedMinor, refundedMinor } = balanceAfter(facts);
  const approvedMinor = approvedIn(facts);
  const used = heldMinor + clearedMinor - refundedMinor;
  if (used < 0n) return 0n;
  return used < approvedMinor ? used : approvedMinor;
}

/** The part of a day's limit that a payment uses: what it uses beyond that of its earlier days. */
function countedOn(one: CardAuthorization, day: string): bigint {
  const times = approvalsIn(one.facts)
    .filter((approval) => dayOf(approval, one) === day)
    .map(({ at }) => at.getTime());
  if (times.length === 0) return 0n;
  const first = Math.min(...times);
  // A void counts from the beginning of its approval; an approval counts on its day, whenever it was made.
  const isEarlier = (fact: AuthorizationFact) =>
    fact.kind === 'declined' ||
    (fact.kind === 'approved' && dayOf(fact, one) < day) ||
    fact.at.getTime() < first;
  const minor = countedIn(one.facts) - countedIn(one.facts.filter(isEarlier));
  return minor > 0n ? minor : 0n;
}

/** The reason for an operator's attention: money was taken without our approval, or without funds. Otherwise null. */
function attentionReason(
  { before, facts, fact }: Record<'before' | 'facts', AuthorizationFact[]> & AppliedOne,
  { shortfallMinor }: { shortfallMinor: bigint },
  terms: AuthorizationTerms,
): string | null {
  if (shortfallMinor > 0n) return 'more was taken than there was: the tenant owes the rest';
  if (fact.kind === 'approved' && fact.stand_in !== null && fact.held_minor < fact.amount_minor) {
    return 'a payment was approved in our place for more than there is';
  }
  const known = overClearingsIn(before, terms);
  const isKnown = (one: OverClearing) =>
    known.some(
      (each) => each.key === one.key && each.reason === one.reason && each.minor >= one.minor,
    );
  const added = overClearingsIn(facts, terms).findLast((one) => !isKnown(one));
  return added?.reason ?? null;
}

type AppliedOne = { fact: AuthorizationFact };

/** A fact that took more than was approved by then, and by how much. */
type OverClearing = { key: string; reason: string; minor: bigint };

/** A report that comes late may show that what was taken after it was not approved: the order of arrival does not count. */
const overClearingsIn = (
  facts: readonly AuthorizationFact[],
  terms: AuthorizationTerms,
): OverClearing[] =>
  historyOf(facts).flatMap(({ fact, before, after }) => {
    if (after.clearedMinor <= before.clearedMinor) return [];
    const reason = overClearingReason(after, terms);
    const minor = after.clearedMinor - after.approvedMinor;
    return reason === null ? [] : [{ key: fact.key, reason, minor }];
  });

function overClearingReason(
  { clearedMinor, approvedMinor }: AuthorizationBalance,
  terms: AuthorizationTerms,
): string | null {
  // An approval that the issuer did not receive, or that was voided, does not count; an account verification approves no amount.
  if (approvedMinor === 0n) return 'money was taken that we had not approved';
  return isOverCleared({ clearedMinor, approvedMinor }, terms)
    ? 'more was taken than was approved'
    : null;
}

function excessReason(
  before: CardAuthorization,
  { clearedMinor, refundedMinor }: AuthorizationBalance,
): string | null {
  const after = { ...before, cleared_minor: clearedMinor, refunded_minor: refundedMinor };
  return excessOf(after) > excessOf(before) ? OVER_RETURNED : null;
}

function timelineEntries(
  { fact, by, code }: AppliedFact,
  effect: LedgerDelta & { problem: string | null },
  now: Date,
): TimelineEntry[] {
  const { releasedMinor, takenMinor, returnedMinor, problem } = effect;
  const { kind, key, amount_minor: amount } = fact;
  const what = kind === 'cleared' && fact.forced ? 'cleared by force' : kind;
  const detail = amount === 0n ? what : `${what}: ${amount}`;
  const entries: TimelineEntry[] = [];
  const add = (type: TimelineEntry['type'], text: string) =>
    void entries.push(timelineEntry(now, type, 'bursar', { detail: text }));
  if (by === 'issuer') {
    entries.push(timelineEntry(now, 'webhook', 'issuer', { detail, providerRequestId: key }));
  } else add(by === 'decision' ? 'accepted' : 'note', code ?? detail);
  if (takenMinor > 0n) add('captured', 'taken');
  else if (releasedMinor > 0n) add('released', 'the hold was lowered or released');
  if (returnedMinor > 0n) add('reversed', 'money was returned');
  if (problem !== null) add('attention_raised', problem);
  return entries;
}
