import type { Posting } from '../../core/ledger/posting.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import { timelineEntry, type TimelineEntry } from '../../core/instructions/instruction.js';
import type { Card } from '../cards/record.js';
import {
  dayOf,
  excessOf,
  ISSUER_SILENT,
  nextVerification,
  OVER_RETURNED,
  takenOf,
  type CardAuthorization,
} from './record.js';
import {
  approvalsIn,
  approvedIn,
  balanceAfter,
  type AuthorizationBalance,
  type AuthorizationFact,
} from './facts.js';
import type { ApplyCardAuthorizationFact, AuthorizationTerms } from './mutations.js';
import {
  holdAsFarAs,
  settle,
  type Holds,
  type LedgerDelta,
  type Settlement,
  deltaPosting,
  stepsOfFacts,
} from './postings.js';
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
  /** The balance that our own approval holds. */
  fundingSource?: 'card' | 'wallet';
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
  const { fact } = input;
  const facts = [...authorization.facts, fact];
  const balance = balanceAfter(facts);
  const delta = deltaTo(authorization, balance, heldBy(input, { card, wallet }));
  const settled = settleFact(authorization, { card, wallet }, delta);
  const problem =
    attentionReason(fact, { ...delta, ...settled }, balance, input.terms) ??
    excessReason(authorization, balance);
  const next: CardAuthorization = {
    ...authorization,
    version: authorization.version + 1,
    status: balance.status,
    held_minor: balance.heldMinor,
    held_wallet_minor: settled.holds.walletMinor,
    cleared_minor: balance.clearedMinor,
    refunded_minor: balance.refundedMinor,
    credited_minor: balance.creditedMinor,
    payments: settled.payments,
    facts,
    ...approvalFields(authorization, input, facts, now),
    attention: problem === null ? authorization.attention : { since: now, reason: problem },
    timeline: [...authorization.timeline, ...timelineEntries(input, { ...delta, problem }, now)],
    updated_at: now,
  };
  if (balance.heldMinor === 0n) {
    next.next_check_at = null;
    next.verify_at = null;
    if (next.attention?.reason === ISSUER_SILENT) next.attention = null;
  }
  if (isNothing(delta)) return { next, ...NO_MONEY };
  return {
    next,
    postings: [
      deltaPosting(authorization, stepsOfFacts(facts).at(-1) ?? '', now, { ...delta, settled }),
    ],
    card: cardAfter({ before: authorization, next, card, settled, fact }, now),
    availableMinor: settled.walletMinor,
    receivableMinor: settled.receivableMinor,
  };
}

const NO_MONEY: MoneyEffects = {
  postings: [],
  card: null,
  availableMinor: 0n,
  receivableMinor: 0n,
};

/** Divides a new hold: our own approval holds all of it in one place, an approval in our place what there is. */
function heldBy(
  { fundingSource }: AppliedFact,
  { card, wallet }: { card: Card; wallet: Wallet },
): (minor: bigint) => Holds {
  return (minor) => {
    if (fundingSource === 'card') return { cardMinor: minor, walletMinor: 0n };
    if (fundingSource === 'wallet') return { cardMinor: 0n, walletMinor: minor };
    return holdAsFarAs(minor, spendable(card, wallet));
  };
}

/** The balances that an approval in our place may hold. */
export const spendable = (card: Card, wallet: Wallet) => ({
  cardMinor: card.available_minor,
  walletMinor: card.funding === 'jit' ? wallet.availableMinor : 0n,
});

/** The movement from the stored balance of an authorization to a new one. */
function deltaTo(
  before: CardAuthorization,
  { heldMinor, clearedMinor, refundedMinor, creditedMinor }: AuthorizationBalance,
  divide: (minor: bigint) => Holds,
): LedgerDelta {
  const more = heldMinor - before.held_minor;
  const taken = clearedMinor - refundedMinor - creditedMinor - takenOf(before);
  return {
    held: divide(more > 0n ? more : 0n),
    releasedMinor: more < 0n ? -more : 0n,
    takenMinor: taken > 0n ? taken : 0n,
    returnedMinor: taken < 0n ? -taken : 0n,
  };
}

const isNothing = ({ held, releasedMinor, takenMinor, returnedMinor }: LedgerDelta) =>
  held.cardMinor + held.walletMinor + releasedMinor + takenMinor + returnedMinor === 0n;

const settleFact = (
  { held_minor: held, held_wallet_minor: walletMinor, payments }: CardAuthorization,
  { card, wallet }: { card: Card; wallet: Wallet },
  delta: LedgerDelta,
): Settlement =>
  settle(
    delta,
    {
      holds: { cardMinor: held - walletMinor, walletMinor },
      payments,
      otherwise: card.funding === 'jit' ? 'wallet' : 'card',
    },
    { cardMinor: card.available_minor, wallet },
  );

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
  const expiresAt = earlier !== null && earlier > end ? earlier : end;
  const verifyAt = nextVerification(expiresAt, now);
  return {
    ...amount,
    expires_at: expiresAt,
    verify_at: verifyAt,
    // Nothing is to be done before: the workflow begins when the issuer must be asked.
    next_check_at: verifyAt,
  };
}

function cardAfter(
  {
    before,
    next,
    card,
    settled,
    fact,
  }: {
    before: CardAuthorization;
    next: CardAuthorization;
    card: Card;
    settled: Settlement;
    fact: AuthorizationFact;
  },
  now: Date,
): Partial<Card> {
  const onCard = before.held_minor - before.held_wallet_minor;
  const opened = Number(next.held_minor > 0n) - Number(before.held_minor > 0n);
  const { day } = card.daily_spend;
  return {
    available_minor: card.available_minor + settled.cardMinor,
    held_minor: card.held_minor + settled.holds.cardMinor - onCard,
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
  fact: AuthorizationFact,
  { takenMinor, shortfallMinor }: { takenMinor: bigint; shortfallMinor: bigint },
  { clearedMinor, refundedMinor, approvedMinor }: AuthorizationBalance,
  terms: AuthorizationTerms,
): string | null {
  if (shortfallMinor > 0n) return 'more was taken than there was: the tenant owes the rest';
  if (fact.kind === 'approved' && fact.stand_in !== null && fact.held_minor < fact.amount_minor) {
    return 'a payment was approved in our place for more than there is';
  }
  // A void of the approval behind a clearing moves nothing, and yet what stays taken is not approved any more.
  const isVoid = fact.kind === 'declined' && clearedMinor > refundedMinor;
  if ((takenMinor === 0n && !isVoid) || fact.kind === 'dispute_debited') return null;
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
  const detail = amount === 0n ? kind : `${kind}: ${amount}`;
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
