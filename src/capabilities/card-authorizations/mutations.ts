import type { Mutation } from '../../core/commit/mutation.js';
import type { Reads, UnitOfWork } from '../../core/commit/unit-of-work.js';
import { cards, type Card, isTerminal, type CardSecurity } from '../cards/record.js';
import { changeCard } from '../cards/mutations.js';
import { tryAutoReload } from '../card-fundings/mutations.js';
import {
  cardAuthorizations,
  dayOf,
  detailsOf,
  messageIn,
  newAuthorization,
  NEVER_ASKED,
  type CardAuthorization,
} from './record.js';
import {
  balanceAfter,
  endedSince,
  isInForce,
  isStoodIn,
  ownApprovalOf,
  type AuthorizationFact,
  type DisputeFactKind,
  type FactKind,
} from './facts.js';
import { holdAsFarAs, holdsOf } from './payers.js';
import {
  evaluateAuthorization,
  spendingDay,
  type AuthorizationVerdict,
  type Tolerance,
} from './rules.js';
import { spendable, transitionAuthorization, type AppliedFact } from './transitions.js';
import {
  callForFull,
  isFull,
  mayHaveAnswered,
  recordDecline,
  repeatedRequest,
  withdraw,
  writeAndEmit,
} from './messages.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';

/** Names an authorization: the tenant and card that the store found, and the issuer's token for the payment. */
export type AuthorizationKey = {
  tenantId: string;
  id: string;
  card: string;
  provider: string;
  token: string;
};

/**
 * How long an approval holds its amount, how much more than it may be cleared without an operator, and the bound of the requests and
 * of the reports of one payment.
 */
export type AuthorizationTerms = Tolerance & { holdMs: number; mostReports: number };

/** The input of `decideCardAuthorization`. */
export type DecideCardAuthorization = AuthorizationKey & {
  request: AuthorizationRequest;
  /** Identifies this request. A repeat of the issuer's message has another id. */
  authorizationRequestId: string;
  /** A decision after this time is a decline, because the issuer has been answered by then. */
  answerBy: Date;
  /** True if cards are switched off for the tenant: every payment is declined. */
  cardsDisabled: boolean;
  terms: AuthorizationTerms;
};

/** The input of `applyCardAuthorizationFact`. */
export type ApplyCardAuthorizationFact = AuthorizationKey & {
  fact: AuthorizationFact;
  code: string | null;
  /**
   * The source of the fact: the issuer, a request that was declined after its possible approval, or the issuer's word that
   * it holds nothing for these approvals, named by the keys of their facts.
   */
  by: 'issuer' | { withdrawsRequestId: string; request: AuthorizationRequest } | { over: string[] };
  terms: AuthorizationTerms;
};

/** The result of `decideCardAuthorization`. Null: there is no such card, or the token belongs to another card. */
type DecideCardAuthorizationResult = { authorization: CardAuthorization | null };
/** The result of `applyCardAuthorizationFact`: the authorization as it is after the commit. */
type ApplyCardAuthorizationFactResult = {
  /** `full`: the payment has as many reports as are kept, so this one is not applied. */
  verdict: 'applied' | 'attention' | 'unchanged' | 'unknown_card' | 'full';
  authorization: CardAuthorization | null;
};

const reads = ({ tenantId, id, card }: AuthorizationKey): Reads => ({
  records: [cards.ref(card), cardAuthorizations.ref(id)],
  wallets: [tenantId],
});

/**
 * Decides a message of an authorization, and holds its amount if it is approved: on top of what is held already. A repeat of
 * the message gets the first decision.
 */
export const decideCardAuthorization: Mutation<
  DecideCardAuthorization,
  DecideCardAuthorizationResult
> = { reads, decide: decideRequest, urgent: true };

/** Applies a fact about an authorization, also one that was never requested here. Repeats are safe, in any order. */
export const applyCardAuthorizationFact: Mutation<
  ApplyCardAuthorizationFact,
  ApplyCardAuthorizationFactResult
> = {
  reads,
  decide: decideAuthorizationFact,
};

function decideRequest(
  uow: UnitOfWork,
  input: DecideCardAuthorization,
  now: Date,
): DecideCardAuthorizationResult {
  const { request, id } = input;
  const found = uow.get(cardAuthorizations, id);
  if (found && found.card_id !== input.card) return { authorization: null };
  if (found && messageIn(found, request.messageId)) {
    return { authorization: repeatedRequest(uow, found, input, now) };
  }
  // Without a decision of its own, the request is declined.
  if (found && isFull(found, input.terms)) return { authorization: callForFull(uow, found, now) };
  const card = uow.get(cards, input.card);
  if (card?.tenant_id !== input.tenantId) return { authorization: null };
  const known = found ?? newAuthorization(input, request, now);
  if (!found) uow.create(cardAuthorizations, known);
  const verdict = evaluateMessage(uow, { known, card, input }, now);
  if (!verdict.approved) {
    const next = recordDecline(uow, known, { ...input, code: verdict.code }, now);
    if (verdict.code === 'insufficient_balance') reloadAfterDecline(uow, card, now);
    return { authorization: next };
  }
  return { authorization: approve(uow, { known, card, input, verdict }, now) };
}

function evaluateMessage(
  uow: UnitOfWork,
  { known, card, input }: { known: CardAuthorization; card: Card; input: DecideCardAuthorization },
  now: Date,
): AuthorizationVerdict {
  const { request, answerBy, tenantId, cardsDisabled } = input;
  if (now > answerBy) return { approved: false, code: 'deadline_exceeded' };
  if (cardsDisabled) return { approved: false, code: 'cards_disabled' };
  if (endedSince(known.facts, request)) return { approved: false, code: 'already_ended' };
  const { standingMinor } = balanceAfter(known.facts);
  return evaluateAuthorization(card, uow.wallet(tenantId), request, now, standingMinor);
}

/** Approves a message and holds its amount. An account verification holds nothing. */
function approve(
  uow: UnitOfWork,
  {
    known,
    card,
    input,
    verdict,
  }: {
    known: CardAuthorization;
    card: Card;
    input: DecideCardAuthorization;
    verdict: Extract<AuthorizationVerdict, { approved: true }>;
  },
  now: Date,
): CardAuthorization {
  const { messageId, requestedAt, kind, holdUntil } = input.request;
  const { authorizationRequestId, terms } = input;
  const { approvedMinor: amountMinor, holdMinor, issuerHoldMinor, availableMinor } = verdict;
  const message = {
    message_id: messageId,
    kind,
    amount_minor: amountMinor,
    ...(holdMinor !== amountMinor && { hold_minor: holdMinor }),
    available_minor: availableMinor,
    approved: true,
    code: 'approved',
    ...detailsOf(input.request),
    request_ids: [authorizationRequestId],
  };
  const authorization = {
    ...known,
    approved: true,
    code: 'approved',
    messages: [...known.messages, message],
  };
  const fact = {
    key: `approved-${messageId}`,
    kind: 'approved' as const,
    message_id: messageId,
    amount_minor: amountMinor,
    held_minor: holdMinor,
    ...(verdict.fundingSource === 'wallet' && { held_wallet_minor: holdMinor }),
    ...(issuerHoldMinor > holdMinor && { issuer_hold_minor: issuerHoldMinor }),
    stand_in: null,
    day: spendingDay(card.daily_spend, now),
    ...(holdUntil && { hold_until: holdUntil }),
    at: afterAll(known.facts, requestedAt),
  };
  const applied = { fact, terms, by: 'decision' } as const;
  const code = known.messages.length === 0 ? 'approved' : `approved: ${amountMinor} more`;
  const next = applyFact(uow, { authorization, card, input: { ...applied, code } }, now);
  return kind === 'financial' && amountMinor > 0n
    ? clearAtOnce(uow, { next, approval: fact, terms }, now)
    : next;
}

/** A financial message takes what it approves, until its approval is voided. The issuer's own report of it replaces this. */
function clearAtOnce(
  uow: UnitOfWork,
  given: {
    next: CardAuthorization;
    approval: Extract<AuthorizationFact, { kind: 'approved' }>;
    terms: AuthorizationTerms;
  },
  now: Date,
): CardAuthorization {
  const { next, approval, terms } = given;
  const card = uow.get(cards, next.card_id);
  if (!card) throw new Error(`there is no ${next.card_id}`);
  const { message_id: messageId, amount_minor: amountMinor, held_minor: heldMinor, at } = approval;
  const fact = {
    key: `financial-${messageId}`,
    kind: 'cleared',
    of: { message_id: messageId, held_minor: heldMinor },
    final: false,
    amount_minor: amountMinor,
    at,
  } as const;
  const input = { fact, terms, by: 'decision', code: 'cleared at once' } as const;
  return applyFact(uow, { authorization: next, card, input }, now);
}

/** A time after every known fact: what we approve is held, until something later ends it. */
function afterAll(facts: readonly AuthorizationFact[], at: Date): Date {
  const latest = Math.max(0, ...facts.map((fact) => fact.at.getTime() + 1));
  return new Date(Math.max(latest, at.getTime()));
}

/** A decline for lack of funds tries an auto-reload, because an empty card may have no further spending to start one. */
function reloadAfterDecline(uow: UnitOfWork, card: Card, now: Date): void {
  const reload = card.auto_reload && tryAutoReload(uow, card, card.auto_reload, now);
  if (reload !== card.auto_reload) changeCard(uow, card, { auto_reload: reload }, now);
}

function decideAuthorizationFact(
  uow: UnitOfWork,
  input: ApplyCardAuthorizationFact,
  now: Date,
): ApplyCardAuthorizationFactResult {
  const card = uow.get(cards, input.card);
  if (card?.tenant_id !== input.tenantId) return factResult('unknown_card', null);
  const found = uow.get(cardAuthorizations, input.id);
  // The token belongs to another card, so the owner of the money is unknown.
  if (found && found.card_id !== card._id) return factResult('unknown_card', null);
  if (found && changesNothing(found, input)) return factResult('unchanged', found);
  if (found && input.by === 'issuer' && isFull(found, input.terms)) {
    return factResult('full', callForFull(uow, found, now));
  }
  const known = found ?? firstSeen(uow, input, now);
  const { by } = input;
  if (isWithdrawal(by)) {
    const ended = withdraw(uow, known, { ...by, code: input.code }, now);
    if (ended) return factResult('unchanged', ended);
  }
  const fact = withHold(uow, input.fact, { known, card }, now);
  const next = applyFact(uow, { authorization: known, card, input: { ...input, fact } }, now);
  return factResult(next.attention === known.attention ? 'applied' : 'attention', next);
}

/** The record of a payment that is known from a fact alone. */
function firstSeen(
  uow: UnitOfWork,
  input: ApplyCardAuthorizationFact,
  now: Date,
): CardAuthorization {
  const { by } = input;
  const created = newAuthorization(input, isWithdrawal(by) ? by.request : null, now);
  const code = input.code ?? NEVER_ASKED;
  const known = { ...created, code };
  uow.create(cardAuthorizations, known);
  return known;
}

/**
 * An approval in our place holds as much as there is. If we have approved the message too, it has the place of our approval, and
 * as much of its hold as it needs: it counts once ours is voided, which the hold must then outlive.
 */
function withHold(
  uow: UnitOfWork,
  fact: AuthorizationFact,
  { known, card }: { known: CardAuthorization; card: Card },
  now: Date,
): AuthorizationFact {
  if (fact.kind !== 'approved') return fact;
  const own = ownApprovalOf(known.facts, fact.message_id);
  const at = own?.at ?? fact.at;
  if (own && isInForce(known.facts, fact.message_id)) {
    const { held_minor: most } = own;
    const heldMinor = most < fact.amount_minor ? most : fact.amount_minor;
    const { walletMinor } = holdsOf(own, heldMinor);
    const hold = { held_minor: heldMinor, held_wallet_minor: walletMinor };
    return { ...fact, ...hold, at, day: dayOf(own, known) };
  }
  const has = isTerminal(card)
    ? { cardMinor: 0n, walletMinor: 0n }
    : spendable(card, uow.wallet(card.tenant_id));
  const { cardMinor, walletMinor } = holdAsFarAs(fact.amount_minor, has);
  const day = spendingDay(card.daily_spend, now);
  return { ...fact, held_minor: cardMinor + walletMinor, at, day };
}

/** The kind of change that a fact is for the tenant. Null: none, because our own approval of the message is in force. */
function changeBy(fact: AuthorizationFact, known: readonly AuthorizationFact[]): FactKind | null {
  if (fact.kind !== 'approved' && fact.kind !== 'declined') return fact.kind;
  const { message_id: id } = fact;
  if (id === null) return fact.kind;
  if (fact.kind === 'declined') return isStoodIn(known, id) ? 'approved' : 'declined';
  return fact.stand_in !== null && isInForce(known, id) ? null : 'approved';
}

/** Books what the issuer gives because of a dispute, or takes back: those who paid get it, and pay it again. */
export const bookDisputeFact = (
  uow: UnitOfWork,
  given: {
    authorization: CardAuthorization;
    card: Card;
    fact: AuthorizationFact & { kind: DisputeFactKind };
    terms: AuthorizationTerms;
  },
  now: Date,
): CardAuthorization => {
  const { authorization, card, fact, terms } = given;
  const input = { fact, terms, by: 'dispute', code: null } as const;
  return applyFact(uow, { authorization, card, input }, now);
};

function applyFact(
  uow: UnitOfWork,
  {
    authorization,
    card,
    input,
  }: { authorization: CardAuthorization; card: Card; input: AppliedFact },
  now: Date,
): CardAuthorization {
  const wallet = uow.wallet(card.tenant_id);
  const transition = transitionAuthorization(authorization, { card, wallet }, input, now);
  const { next, postings, card: set, availableMinor, receivableMinor } = transition;
  postings.forEach(uow.post);
  // Most facts change only the card. The wallet's document has many writers, so it is written only if it changes.
  if (availableMinor !== 0n || receivableMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + availableMinor,
      receivableMinor: wallet.receivableMinor + receivableMinor,
    });
  }
  if (set) changeCard(uow, card, set, now);
  return writeAndEmit(uow, next, changeBy(input.fact, authorization.facts));
}

type Source = ApplyCardAuthorizationFact['by'];

const isWithdrawal = (by: Source): by is Extract<Source, { request: object }> =>
  typeof by === 'object' && 'request' in by;

/** True if an approval is known here that the issuer may not have known when it said so: its hold stays. */
const isApprovedSince = ({ facts }: CardAuthorization, over: readonly string[]): boolean =>
  facts.some(({ kind, key }) => kind === 'approved' && !over.includes(key));

/** True if a fact is a repeat, or one of our own that has become obsolete, or a decline of what was never approved. */
function changesNothing(
  found: CardAuthorization,
  { by, fact }: ApplyCardAuthorizationFact,
): boolean {
  if (found.facts.some(({ key }) => key === fact.key)) return true;
  if (typeof by === 'object' && 'over' in by) {
    return balanceAfter(found.facts).openMinor === 0n || isApprovedSince(found, by.over);
  }
  if (isWithdrawal(by)) {
    const message = messageIn(found, by.request.messageId);
    return message !== undefined && !(message.approved && mayHaveAnswered(message, by));
  }
  if (fact.kind !== 'declined' || fact.message_id === null) return false;
  return messageIn(found, fact.message_id)?.approved === false;
}

const factResult = (
  verdict: ApplyCardAuthorizationFactResult['verdict'],
  authorization: CardAuthorization | null,
): ApplyCardAuthorizationFactResult => ({ verdict, authorization });

/** The input of `setCardSecurity`. */
type SetCardSecurity = {
  tenantId: string;
  card: string;
  security: CardSecurity;
};

/** The result of `setCardSecurity`. Null: there is no such card. `refused`: the card can never be used again. */
type SetCardSecurityResult = { card: Card | null; refused: boolean };

/** Replaces the security settings of a card. A payment is decided by the old settings or by the new ones, never by a mix. */
export const setCardSecurity: Mutation<SetCardSecurity, SetCardSecurityResult> = {
  reads: ({ tenantId, card }) => ({ records: [cards.ref(card)], wallets: [tenantId] }),
  decide(uow, { tenantId, card: id, security }, now) {
    const card = uow.get(cards, id);
    if (card?.tenant_id !== tenantId) return { card: null, refused: false };
    if (isTerminal(card) || card.status === 'failed') {
      return { card, refused: true };
    }
    const next = changeCard(uow, card, { security }, now);
    return { card: next, refused: false };
  },
};
