import type { Mutation } from '../../core/commit/mutation.js';
import type { Reads, UnitOfWork } from '../../core/commit/unit-of-work.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { cards, type Card, isTerminal, type CardSecurity } from '../cards/card.js';
import { changeCard } from '../cards/mutations.js';
import { tryAutoReload } from '../card-fundings/mutations.js';
import {
  cardAuthorizations,
  isApproved,
  newAuthorization,
  unseenAuthorization,
  type CardAuthorization,
  type AuthorizationFact,
} from './card-authorization.js';
import { holdPosting } from './postings.js';
import { dailySpendOn, evaluateAuthorization, type AuthorizationVerdict } from './rules.js';
import { transitionAuthorization } from './transitions.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';

/** Names an authorization: the tenant and card that the store found, and the issuer's token for the payment. */
export type AuthorizationKey = {
  tenantId: string;
  id: string;
  card: string;
  provider: string;
  token: string;
};

/** The input of `decideCardAuthorization`. */
export type DecideCardAuthorization = AuthorizationKey & {
  request: AuthorizationRequest;
  /** Identifies this request. A repeated request with the same token has another id. */
  authorizationRequestId: string;
  /** A decision after this time is a decline, because the issuer has been answered by then. */
  answerBy: Date;
  holdMs: number;
};

/** The input of `applyCardAuthorizationFact`. */
export type ApplyCardAuthorizationFact = AuthorizationKey & {
  fact: AuthorizationFact;
  code: string | null;
  /** The source of the fact: the issuer, a request that was declined after its possible approval, or the end of the hold. */
  by: 'issuer' | { withdrawsRequestId: string; request: AuthorizationRequest } | 'clock';
};

/** The result of `decideCardAuthorization`. Null: there is no such card, or the token belongs to another card. */
type DecideCardAuthorizationResult = { authorization: CardAuthorization | null };
/** The result of `applyCardAuthorizationFact`: the authorization as it is after the commit. */
type ApplyCardAuthorizationFactResult = {
  verdict: 'applied' | 'attention' | 'unchanged' | 'unknown_card';
  authorization: CardAuthorization | null;
};

const reads = ({ tenantId, id, card }: AuthorizationKey): Reads => ({
  records: [cards.ref(card), cardAuthorizations.ref(id)],
  wallets: [tenantId],
});

/** Approves or declines an authorization, and holds its amount if approved. A repeat gets the first decision. */
export const decideCardAuthorization: Mutation<
  DecideCardAuthorization,
  DecideCardAuthorizationResult
> = { reads, decide: decideRequest };

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
  const known = uow.get(cardAuthorizations, input.id);
  if (known) {
    const same = known.card_id === input.card;
    return { authorization: same ? repeatedRequest(uow, known, input, now) : null };
  }
  const card = uow.get(cards, input.card);
  if (card?.tenant_id !== input.tenantId) return { authorization: null };
  const wallet = uow.wallet(input.tenantId);
  const verdict: AuthorizationVerdict =
    now > input.answerBy
      ? { approved: false, code: 'deadline_exceeded' }
      : evaluateAuthorization(card, wallet, input.request, now);
  const authorization = newAuthorization(input, verdict, now);
  uow.create(cardAuthorizations, authorization);
  if (!verdict.approved) {
    if (verdict.code === 'insufficient_balance') reloadAfterDecline(uow, card, now);
    return { authorization };
  }
  const { amountMinor } = input.request;
  const ofCard = verdict.fundingSource === 'card' ? amountMinor : 0n;
  const spent = dailySpendOn(card.daily_spend, lagosDay(now));
  if (verdict.fundingSource === 'wallet') {
    uow.changeWallet({ ...wallet, availableMinor: wallet.availableMinor - amountMinor });
  }
  uow.post(holdPosting(authorization));
  changeCard(
    uow,
    card,
    {
      available_minor: card.available_minor - ofCard,
      held_minor: card.held_minor + ofCard,
      open_holds: card.open_holds + 1,
      daily_spend: { ...spent, minor: spent.minor + amountMinor },
    },
    now,
  );
  return { authorization };
}

/** A decline for lack of funds tries an auto-reload, because an empty card may have no further spending to start one. */
function reloadAfterDecline(uow: UnitOfWork, card: Card, now: Date): void {
  const reload = card.auto_reload && tryAutoReload(uow, card, card.auto_reload, now);
  if (reload !== card.auto_reload) changeCard(uow, card, { auto_reload: reload }, now);
}

/**
 * Repeat of a decided authorization. Adds this request to those that may have received the approval. A request past its own
 * deadline is declined and not added.
 */
function repeatedRequest(
  uow: UnitOfWork,
  known: CardAuthorization,
  { authorizationRequestId, answerBy }: DecideCardAuthorization,
  now: Date,
): CardAuthorization {
  const ids = known.authorization_request_ids;
  if (ids.includes(authorizationRequestId) || !isApproved(known) || now > answerBy) return known;
  const authorizationRequestIds = [...ids, authorizationRequestId];
  return changeRequestIds(uow, known, { authorizationRequestIds, detail: 'repeated request' }, now);
}

/** Removes a declined request from those that may have received the approval. The approval stays, for the others. */
function withdrawRequest(
  uow: UnitOfWork,
  known: CardAuthorization,
  authorizationRequestId: string,
  now: Date,
) {
  const authorizationRequestIds = known.authorization_request_ids.filter(
    (each) => each !== authorizationRequestId,
  );
  const detail = 'one request was declined, and another may have been approved';
  return changeRequestIds(uow, known, { authorizationRequestIds, detail }, now);
}

function changeRequestIds(
  uow: UnitOfWork,
  known: CardAuthorization,
  { authorizationRequestIds, detail }: { authorizationRequestIds: string[]; detail: string },
  now: Date,
): CardAuthorization {
  const next = {
    ...known,
    authorization_request_ids: authorizationRequestIds,
    version: known.version + 1,
    updated_at: now,
    timeline: [...known.timeline, timelineEntry(now, 'note', known.provider, { detail })],
  };
  uow.change(cardAuthorizations, next);
  return next;
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
  if (found && !stillApplies(found, input, now)) return factResult('unchanged', found);
  if (found?.facts.some(({ key }) => key === input.fact.key)) return factResult('unchanged', found);
  if (found && typeof input.by === 'object' && hasOtherRequests(found)) {
    return factResult('unchanged', withdrawRequest(uow, found, input.by.withdrawsRequestId, now));
  }
  const known = found ?? unseenAuthorization(input, card, now);
  if (!found) uow.create(cardAuthorizations, known);
  // A declined authorization has no hold to release.
  if (input.fact.kind === 'declined' && !known.approved) return factResult('unchanged', known);
  const next = applyFact(uow, { authorization: known, card, input }, now);
  return factResult(next.attention === known.attention ? 'applied' : 'attention', next);
}

/** True if another request than the withdrawn one may have received the approval, which must stay then. */
const hasOtherRequests = (found: CardAuthorization) =>
  isApproved(found) && found.authorization_request_ids.length > 1;

function applyFact(
  uow: UnitOfWork,
  {
    authorization,
    card,
    input,
  }: { authorization: CardAuthorization; card: Card; input: ApplyCardAuthorizationFact },
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
  uow.change(cardAuthorizations, next);
  return next;
}

/** False if a fact of our own has become obsolete: the request was withdrawn before, or the hold has ended or not expired yet. */
function stillApplies(
  found: CardAuthorization,
  { by }: ApplyCardAuthorizationFact,
  now: Date,
): boolean {
  if (by === 'issuer') return true;
  if (by === 'clock') {
    return found.held_minor > 0n && found.expires_at !== null && found.expires_at <= now;
  }
  return found.authorization_request_ids.includes(by.withdrawsRequestId);
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
