import { ApiError } from '../../shared/errors.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  refusalResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { toWireAmount } from '../../shared/money.js';
import type { TransitionResult } from '../../core/instructions/held-transitions.js';
import { cards, type Card, type AutoReload } from '../cards/card.js';
import { changeCard, changeOperation } from '../cards/change-card.js';
import { cardOperations, type CardOperation } from '../cards/card-operation.js';
import { expire, fundReversalIdOf, type Expired } from './deadline.js';
import { transitionCardFunding, type FundingFact } from './transitions.js';
import { holdPosting, releasePosting, type Funding } from './postings.js';
import { afterReloadEnded, tryAutoReload } from './auto-reload.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';

export type AcceptCardFunding = {
  tenantId: string;
  /** Complete, with its id, before it queues. */
  operation: Funding;
  claim: Claim | null;
  /** What the client is told when it is accepted. */
  answer: SavedResponse;
};
/** Names the funding; a late one's facts are those of its unwinding. */
type FundingKey = { tenantId: string; id: string; card: string };
export type ApplyCardFundingFact = FundingKey & { fact: FundingFact };
/** The deadline has come. Whoever says it first. */
export type ExpireCardFunding = FundingKey;
export type AutoReloadSettings = Pick<
  AutoReload,
  'enabled' | 'threshold_minor' | 'amount_minor' | 'daily_cap_minor'
>;
export type SetAutoReload = {
  tenantId: string;
  id: string;
  settings: AutoReloadSettings;
};

/** The operation that the fact was about as it stands now. */
type FundingFactApplied = {
  kind: 'funding';
  verdict: TransitionResult<CardOperation>['verdict'];
  operation: CardOperation;
};
export type CardFundingResult = FundingFactApplied | { kind: 'no_such_funding' };
export type SetAutoReloadResult =
  { kind: 'reload'; card: Card } | { kind: 'refused'; error: ApiError };

export const acceptCardFunding: Mutation<AcceptCardFunding, AcceptResult> = {
  reads: ({ tenantId, operation, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    // One that is its own id can't have been taken.
    references: operation.reference === operation._id ? [] : [referenceOf(operation)],
    records: [cards.ref(operation.card_id), ...(full ? [cardOperations.ref(operation._id)] : [])],
    wallets: [tenantId],
  }),
  decide: decideAccept,
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
};

const readsOf = ({ tenantId, id, card }: FundingKey) => ({
  records: [cardOperations.ref(id), cardOperations.ref(fundReversalIdOf(id)), cards.ref(card)],
  wallets: [tenantId],
});

export const applyCardFundingFact: Mutation<ApplyCardFundingFact, CardFundingResult> = {
  reads: readsOf,
  decide: decideFact,
};

export const expireCardFunding: Mutation<ExpireCardFunding, CardFundingResult> = {
  reads: readsOf,
  decide: decideExpiry,
};

export const setAutoReload: Mutation<SetAutoReload, SetAutoReloadResult> = {
  reads: ({ tenantId, id }) => ({ records: [cards.ref(id)], wallets: [tenantId] }),
  decide: decideReload,
};

const referenceOf = ({ tenant_id: tenantId, reference }: CardOperation) =>
  ({ collection: cardOperations, tenantId, reference }) as const;

function decideAccept(uow: UnitOfWork, item: AcceptCardFunding, now: Date): AcceptResult {
  const { claim, operation, answer } = item;
  const earlier = findSavedResponse(uow, claim, operation._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (uow.get(cardOperations, operation._id)) {
    return { kind: 'answered', answer, resource: operation._id, replayed: false };
  }
  const refusal = refuse(uow, operation);
  if (refusal) return saveResponse(uow, item, refusalResponse(refusal));
  const wallet = uow.wallet(item.tenantId);
  const availableMinor = wallet.availableMinor - operation.amount_minor;
  uow.changeWallet({ ...wallet, availableMinor });
  uow.create(cardOperations, operation);
  uow.takeReference(referenceOf(operation), operation._id);
  uow.post(holdPosting(operation));
  return saveResponse(uow, item, answer, operation._id);
}

/** Why this card can't be funded so, or null. A refusal uses up no reference. */
function refuse(uow: UnitOfWork, operation: Funding): ApiError | null {
  const card = uow.get(cards, operation.card_id);
  if (!card || card.tenant_id !== operation.tenant_id) return new ApiError('not_found');
  const unfit = refuseCard(card, operation);
  if (unfit) return unfit;
  const first = uow.reference(referenceOf(operation));
  if (first) {
    const field = 'transaction_reference';
    return new ApiError('duplicate_reference', { field, details: { id: first } });
  }
  const { availableMinor } = uow.wallet(operation.tenant_id);
  if (availableMinor >= operation.amount_minor) return null;
  return new ApiError('insufficient_balance', {
    message: 'The wallet balance is lower than the amount.',
    details: {
      required: toWireAmount(operation.amount_minor),
      available: toWireAmount(availableMinor),
    },
  });
}

function refuseCard({ status, funding }: Card, { type }: CardOperation): ApiError | null {
  if (status !== 'active') {
    const message = `The card is ${status}, and only an active one is funded.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  if (type === 'jit_fund' || funding === 'prepaid') return null;
  const message = 'The card is funded just in time: its authorizations are held in the wallet.';
  return new ApiError('invalid_state', { message, details: { status, funding } });
}

function decideFact(uow: UnitOfWork, item: ApplyCardFundingFact, now: Date): CardFundingResult {
  const found = findFundingOrReversal(uow, item);
  if (!found) return { kind: 'no_such_funding' };
  const { operation, card } = found;
  // Nobody has said yet that its deadline has come: what is confirmed after it is late all the same.
  const late = item.fact.kind === 'succeeded' ? expire(operation, now) : null;
  if (late?.fundReversal) return { ...commitExpiry(uow, operation, late, now), verdict: 'stale' };
  const wallet = uow.wallet(item.tenantId);
  const { available_minor: cardMinor } = card;
  const { availableMinor, owedMinor } = wallet;
  const transition = transitionCardFunding(operation, item.fact, now, {
    availableMinor,
    owedMinor,
    cardMinor,
  });
  const { verdict, next, postings, ...added } = transition;
  if (next === operation) return { kind: 'funding', verdict, operation };
  postings.forEach(uow.post);
  if (added.availableMinor !== 0n || added.owedMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: availableMinor + added.availableMinor,
      owedMinor: owedMinor + added.owedMinor,
    });
  }
  const reload = afterReloadEnded(card, operation, next, now);
  if (added.cardMinor !== 0n || reload !== card.auto_reload) {
    changeCard(
      uow,
      card,
      { available_minor: cardMinor + added.cardMinor, auto_reload: reload },
      now,
    );
  }
  const changed = changeOperation(uow, operation, next);
  updateReversedFunding(uow, operation, changed);
  return { kind: 'funding', verdict, operation: changed };
}

/** Who asked for a late funding sees in its own record what its issuer said became of it. */
function updateReversedFunding(uow: UnitOfWork, before: CardOperation, after: CardOperation): void {
  const funding =
    after.reverses_operation_id && uow.get(cardOperations, after.reverses_operation_id);
  if (!funding) return;
  uow.change(cardOperations, {
    ...funding,
    version: funding.version + 1,
    updated_at: after.updated_at,
    attention: after.attention,
    timeline: [...funding.timeline, ...after.timeline.slice(before.timeline.length)],
  });
}

function decideExpiry(uow: UnitOfWork, item: ExpireCardFunding, now: Date): CardFundingResult {
  const found = findFundingOrReversal(uow, item);
  if (!found) return { kind: 'no_such_funding' };
  const { operation } = found;
  const expired = expire(operation, now);
  return expired
    ? commitExpiry(uow, operation, expired, now)
    : { kind: 'funding', verdict: 'unchanged', operation };
}

function commitExpiry(
  uow: UnitOfWork,
  operation: CardOperation,
  { failed, fundReversal }: Expired,
  now: Date,
): FundingFactApplied {
  if (fundReversal) uow.create(cardOperations, fundReversal);
  else {
    const wallet = uow.wallet(operation.tenant_id);
    const availableMinor = wallet.availableMinor + (operation.amount_minor ?? 0n);
    uow.changeWallet({ ...wallet, availableMinor });
    uow.post(releasePosting(operation as Funding, now));
  }
  const changed = changeOperation(uow, operation, failed);
  return { kind: 'funding', verdict: 'applied', operation: changed };
}

/** The funding, or what unwinds it, with its card. */
function findFundingOrReversal(uow: UnitOfWork, { tenantId, id, card: cardId }: FundingKey) {
  const operation = uow.get(cardOperations, fundReversalIdOf(id)) ?? uow.get(cardOperations, id);
  const card = uow.get(cards, cardId);
  const own = operation?.tenant_id === tenantId && operation.card_id === card?._id;
  return own && card ? { operation, card } : null;
}

function decideReload(
  uow: UnitOfWork,
  { tenantId, id, settings }: SetAutoReload,
  now: Date,
): SetAutoReloadResult {
  const card = uow.get(cards, id);
  if (!card || card.tenant_id !== tenantId)
    return { kind: 'refused', error: new ApiError('not_found') };
  const refusal = refuseReload(card);
  if (refusal) return { kind: 'refused', error: refusal };
  const present = card.auto_reload ?? NEVER_RELOADED;
  const short = card.available_minor < settings.threshold_minor;
  // Put again, they are tried again; what is under way and what the day has used stay as they are.
  const reload: AutoReload = {
    ...present,
    ...settings,
    triggered: present.triggered && short,
    refusals: 0,
    attention: null,
  };
  const set = { auto_reload: tryAutoReload(uow, card, reload, now) };
  return { kind: 'reload', card: changeCard(uow, card, set, now) };
}

function refuseReload({ status, funding }: Card): ApiError | null {
  if (status !== 'active' && status !== 'locked') {
    const message = `The card is ${status}.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  if (funding === 'prepaid') return null;
  const message = 'The card is funded just in time: it has nothing that could be reloaded.';
  return new ApiError('invalid_state', { message, details: { status, funding } });
}

const NEVER_RELOADED = {
  triggered: false,
  operation_id: null,
  refusals: 0,
  attention: null,
  limit_day: '',
  limit_used_minor: 0n,
};

type FundingRef = Pick<CardOperation, 'tenant_id' | '_id' | 'card_id' | 'reverses_operation_id'>;

/** Applies what became known of a funding, through the state guard. May be repeated, and comes in any order. */
export const commitFundingFact = (
  groupCommit: GroupCommit,
  {
    tenant_id: tenantId,
    _id,
    reverses_operation_id: reversesOperationId,
    card_id: card,
  }: FundingRef,
  fact: FundingFact,
): Promise<CardFundingResult> =>
  groupCommit.commit(applyCardFundingFact, {
    tenantId,
    id: reversesOperationId ?? _id,
    card,
    fact,
  });

/** Says that the deadline of a just-in-time funding has come. */
export const commitFundingExpiry = (
  groupCommit: GroupCommit,
  {
    tenant_id: tenantId,
    _id,
    reverses_operation_id: reversesOperationId,
    card_id: card,
  }: FundingRef,
): Promise<CardFundingResult> =>
  groupCommit.commit(expireCardFunding, { tenantId, id: reversesOperationId ?? _id, card });
