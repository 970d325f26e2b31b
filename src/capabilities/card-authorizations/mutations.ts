import type { Mutation } from '../../core/commit/mutation.js';
import type { Reads, UnitOfWork } from '../../core/commit/unit-of-work.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { cards, type Card, isTerminal, type CardSecurity } from '../cards/card.js';
import { changeCard } from '../cards/change-card.js';
import { tryAutoReload } from '../card-fundings/auto-reload.js';
import { applyAuthorizationFact } from './apply.js';
import {
  cardAuthorizations,
  askingsOf,
  isApproved,
  type CardAuthorization,
  type AuthorizationFact,
} from './card-authorization.js';
import { newAuthorization, unseenAuthorization } from './new-authorization.js';
import { holdPosting } from './postings.js';
import { evaluateAuthorization, spentOn, type AuthorizationVerdict } from './rules.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';

/** Which authorization, and of whom: what the store found by the issuer's names. */
export type AuthorizationKey = {
  tenantId: string;
  id: string;
  card: string;
  provider: string;
  token: string;
};

export type DecideCardAuthorization = AuthorizationKey & {
  request: AuthorizationRequest;
  /** Names this asking: whoever comes with the same token later has another one. */
  authorizationRequestId: string;
  /** What is decided later than this is declined: the issuer has its answer by then. */
  answerBy: Date;
  holdMs: number;
};

export type ApplyCardAuthorizationFact = AuthorizationKey & {
  fact: AuthorizationFact;
  code: string | null;
  /** The issuer says so, or we: an asking that takes back what it may have decided, or a hold whose time is over. */
  by: 'issuer' | { withdrawsRequestId: string; request: AuthorizationRequest } | 'clock';
};

/** Null: there is no such card, or the issuer has used the token for another one. */
export type DecideCardAuthorizationResult = { authorization: CardAuthorization | null };
export type ApplyCardAuthorizationFactResult = {
  verdict: 'applied' | 'attention' | 'unchanged' | 'unknown_card';
  authorization: CardAuthorization | null;
};

const reads = ({ tenantId, id, card }: AuthorizationKey): Reads => ({
  records: [cards.ref(card), cardAuthorizations.ref(id)],
  wallets: [tenantId],
});

export const decideCardAuthorization: Mutation<
  DecideCardAuthorization,
  DecideCardAuthorizationResult
> = { reads, decide };
export const applyCardAuthorizationFact: Mutation<
  ApplyCardAuthorizationFact,
  ApplyCardAuthorizationFactResult
> = {
  reads,
  decide: decideFact,
};

function decide(
  uow: UnitOfWork,
  item: DecideCardAuthorization,
  now: Date,
): DecideCardAuthorizationResult {
  const known = uow.get(cardAuthorizations, item.id);
  if (known) {
    const same = known.card_id === item.card;
    return { authorization: same ? repeatedRequest(uow, known, item, now) : null };
  }
  const card = uow.get(cards, item.card);
  if (card?.tenant_id !== item.tenantId) return { authorization: null };
  const wallet = uow.wallet(item.tenantId);
  const verdict: AuthorizationVerdict =
    now > item.answerBy
      ? { approved: false, code: 'deadline_exceeded' }
      : evaluateAuthorization(card, wallet, item.request, now);
  const authorization = newAuthorization(item, verdict, now);
  uow.create(cardAuthorizations, authorization);
  if (!verdict.approved) {
    if (verdict.code === 'insufficient_balance') reloadAfterDecline(uow, card, now);
    return { authorization };
  }
  const { amountMinor } = item.request;
  const ofCard = verdict.fundingSource === 'card' ? amountMinor : 0n;
  const spent = spentOn(card.daily_spend, lagosDay(now));
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

/** What the card can't cover tries for a reload, as spending does: there may never be another spending. */
function reloadAfterDecline(uow: UnitOfWork, card: Card, now: Date): void {
  const reload = card.auto_reload && tryAutoReload(uow, card, card.auto_reload, now);
  if (reload !== card.auto_reload) changeCard(uow, card, { auto_reload: reload }, now);
}

/**
 * The same decision. Who asks now has not heard it, and is answered by it from now on, beside those who asked before; but
 * for one that comes too late, which declines.
 */
function repeatedRequest(
  uow: UnitOfWork,
  known: CardAuthorization,
  { authorizationRequestId, answerBy }: DecideCardAuthorization,
  now: Date,
): CardAuthorization {
  const authorizationRequestIds = askingsOf(known);
  if (
    authorizationRequestIds.includes(authorizationRequestId) ||
    !isApproved(known) ||
    now > answerBy
  )
    return known;
  return withNote(
    uow,
    known,
    {
      authorizationRequestIds: [...authorizationRequestIds, authorizationRequestId],
      detail: 'repeated request',
    },
    now,
  );
}

/** One asking less that may have been answered with the approval; who asked otherwise has it still. */
function withdrawRequest(
  uow: UnitOfWork,
  known: CardAuthorization,
  authorizationRequestId: string,
  now: Date,
) {
  const authorizationRequestIds = askingsOf(known).filter(
    (each) => each !== authorizationRequestId,
  );
  const detail = 'one request was declined, and another may have been approved';
  return withNote(uow, known, { authorizationRequestIds, detail }, now);
}

function withNote(
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

function decideFact(
  uow: UnitOfWork,
  item: ApplyCardAuthorizationFact,
  now: Date,
): ApplyCardAuthorizationFactResult {
  const card = uow.get(cards, item.card);
  if (card?.tenant_id !== item.tenantId) return factResult('unknown_card', null);
  const found = uow.get(cardAuthorizations, item.id);
  // A token that stands for another card: whose money that is, nobody can say.
  if (found && found.card_id !== card._id) return factResult('unknown_card', null);
  if (found && !stillApplies(found, item, now)) return factResult('unchanged', found);
  if (found?.facts.some(({ key }) => key === item.fact.key)) return factResult('unchanged', found);
  if (found && typeof item.by === 'object' && isApproved(found) && askingsOf(found).length > 1) {
    return factResult('unchanged', withdrawRequest(uow, found, item.by.withdrawsRequestId, now));
  }
  const known = found ?? unseenAuthorization(item, card, now);
  if (!found) uow.create(cardAuthorizations, known);
  // What was never approved has no hold to end.
  if (item.fact.kind === 'declined' && !known.approved) return factResult('unchanged', known);
  const next = applyAuthorizationFact(uow, { card, authorization: known, item }, now);
  return factResult(next.attention === known.attention ? 'applied' : 'attention', next);
}

/** Whether what we say ourselves still holds now: the issuer may have asked again, or have spoken. */
function stillApplies(
  found: CardAuthorization,
  { by }: ApplyCardAuthorizationFact,
  now: Date,
): boolean {
  if (by === 'issuer') return true;
  if (by === 'clock') {
    return found.held_minor > 0n && found.expires_at !== null && found.expires_at <= now;
  }
  return askingsOf(found).includes(by.withdrawsRequestId);
}

const factResult = (
  verdict: ApplyCardAuthorizationFactResult['verdict'],
  authorization: CardAuthorization | null,
): ApplyCardAuthorizationFactResult => ({ verdict, authorization });

export type SetCardSecurity = {
  tenantId: string;
  card: string;
  security: CardSecurity;
};

/** Null: no such card. `refused`: in its state nothing is paid with it any more. */
export type SetCardSecurityResult = { card: Card | null; refused: boolean };

/** In one commit with every decision on the card: a payment sees the old settings whole, or the new ones. */
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
