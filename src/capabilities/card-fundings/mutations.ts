import {
  acceptOnce,
  refuseTakenReference,
  refuseUncovered,
  keysOf,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { holdPosting, releasePosting } from '../../core/ledger/posting.js';
import { ApiError } from '../../shared/errors.js';
import { type Mutation } from '../../core/commit/mutation.js';
import { type UnitOfWork, actIn } from '../../core/commit/unit-of-work.js';

import type { TransitionResult } from '../../core/instructions/held-instruction.js';
import {
  cards,
  NEW_AUTO_RELOAD,
  type AutoReload,
  type AutoReloadSettings,
  type Card,
} from '../cards/record.js';
import { changeCard, changeOperation } from '../cards/mutations.js';
import {
  cardOperations,
  referenceOf,
  type CardOperation,
  fundingHold,
  type Funding,
} from '../cards/card-operation.js';
import {
  expire,
  fundReversalIdOf,
  reported,
  transitionCardFunding,
  type Expired,
  type FundingFact,
} from './transitions.js';
import { afterReloadEnded, tryAutoReload } from './auto-reload.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';

export { autoReloadAfter, tryAutoReload, withStopEvent } from './auto-reload.js';

/** The input of `acceptCardFunding`. */
type AcceptCardFunding = {
  tenantId: string;
  /** Built with its id before the commit, so that a repeated commit finds it. */
  operation: Funding;
  claim: Claim | null;
  /** The response that is saved on acceptance. */
  answer: SavedResponse;
};
/** Names the funding. Facts apply to its reversal, if it has one. */
type FundingKey = { tenantId: string; id: string; card: string };
/** The input of `applyCardFundingFact`. */
type ApplyCardFundingFact = FundingKey & { fact: FundingFact };
/** The input of `expireCardFunding`. */
type ExpireCardFunding = FundingKey;
/** The input of `setAutoReload`. */
type SetAutoReload = {
  tenantId: string;
  id: string;
  /** Null switches auto-reload off and keeps the settings. */
  settings: AutoReloadSettings | null;
};

/** The operation of the fact as it is after the commit. */
type FundingFactApplied = {
  kind: 'applied';
  verdict: TransitionResult<CardOperation>['verdict'];
  operation: CardOperation;
};
/** The result of `applyCardFundingFact` and `expireCardFunding`. */
type CardFundingResult = FundingFactApplied | { kind: 'no_such_funding' };
/** The result of `setAutoReload`. */
type SetAutoReloadResult = { kind: 'changed'; card: Card } | { kind: 'refused'; error: ApiError };

/** Creates a funding with its hold and takes its reference, or refuses it. Saves the response under its idempotency key. */
export const acceptCardFunding: Mutation<AcceptCardFunding, AcceptResult> = {
  reads: ({ tenantId, operation, claim }, full) => ({
    keys: keysOf(claim),
    // A reference that is the operation's own id can't have been taken.
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

/** Applies a fact about a funding or its reversal. Repeats and facts out of order are safe. */
export const applyCardFundingFact: Mutation<ApplyCardFundingFact, CardFundingResult> = {
  reads: readsOf,
  decide: decideFundingFact,
  // An operator's act may target the reversal of the funding.
  audited: (uow, input) =>
    instructionState(uow.get(cardOperations, actIn(input)?.target ?? input.id)),
};

/** Fails a just-in-time funding whose deadline has passed. Changes nothing if it has ended before. */
export const expireCardFunding: Mutation<ExpireCardFunding, CardFundingResult> = {
  reads: readsOf,
  decide: decideExpiry,
};

/** Replaces the auto-reload settings of a card, and reloads it if its balance is below the threshold. */
export const setAutoReload: Mutation<SetAutoReload, SetAutoReloadResult> = {
  reads: ({ tenantId, id }) => ({ records: [cards.ref(id)], wallets: [tenantId] }),
  decide: decideAutoReload,
};

function decideAccept(uow: UnitOfWork, input: AcceptCardFunding, now: Date): AcceptResult {
  const { operation } = input;
  return acceptOnce<CardOperation>(uow, input, now, {
    collection: cardOperations,
    id: operation._id,
    response: () => input.answer,
    admit() {
      const refusal = refuse(uow, operation);
      if (refusal) return refusal;
      const wallet = uow.wallet(input.tenantId);
      const availableMinor = wallet.availableMinor - operation.amount_minor;
      uow.changeWallet({ ...wallet, availableMinor });
      uow.create(cardOperations, operation);
      uow.takeReference(referenceOf(operation), operation._id);
      uow.post(holdPosting(fundingHold(operation)));
      return operation;
    },
  });
}

/** The refusal of a funding, or null. A refusal does not take the reference. */
function refuse(uow: UnitOfWork, operation: Funding): ApiError | null {
  const card = uow.get(cards, operation.card_id);
  if (!card || card.tenant_id !== operation.tenant_id) return new ApiError('not_found');
  const unfit = refuseCard(card, operation);
  if (unfit) return unfit;
  const taken = refuseTakenReference(uow, referenceOf(operation), 'transaction_reference');
  if (taken) return taken;
  const { availableMinor } = uow.wallet(operation.tenant_id);
  if (availableMinor >= operation.amount_minor) return null;
  const message = 'The wallet balance is lower than the amount.';
  return refuseUncovered(operation.amount_minor, availableMinor, message);
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

function decideFundingFact(
  uow: UnitOfWork,
  input: ApplyCardFundingFact,
  now: Date,
): CardFundingResult {
  const found = findFundingOrReversal(uow, input);
  if (!found) return { kind: 'no_such_funding' };
  const { operation, card } = found;
  // The funding may not be expired yet, but a success after the deadline is late.
  const late = input.fact.kind === 'succeeded' ? expire(operation, now) : null;
  if (late?.fundReversal) {
    const fundReversal = reported(late.fundReversal, now);
    return { ...applyExpiry(uow, operation, { ...late, fundReversal }, now), verdict: 'stale' };
  }
  const wallet = uow.wallet(input.tenantId);
  const { available_minor: cardMinor } = card;
  const { availableMinor, receivableMinor } = wallet;
  const transition = transitionCardFunding(operation, input.fact, now, {
    availableMinor,
    receivableMinor,
    cardMinor,
  });
  const { verdict, next, postings, ...added } = transition;
  if (next === operation) return { kind: 'applied', verdict, operation };
  postings.forEach(uow.post);
  if (added.availableMinor !== 0n || added.receivableMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: availableMinor + added.availableMinor,
      receivableMinor: receivableMinor + added.receivableMinor,
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
  return { kind: 'applied', verdict, operation: changed };
}

/** Copies the progress of a fund reversal to its funding, whose timeline the tenant can read. */
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

function decideExpiry(uow: UnitOfWork, input: ExpireCardFunding, now: Date): CardFundingResult {
  const found = findFundingOrReversal(uow, input);
  if (!found) return { kind: 'no_such_funding' };
  const { operation } = found;
  const expired = expire(operation, now);
  return expired
    ? applyExpiry(uow, operation, expired, now)
    : { kind: 'applied', verdict: 'unchanged', operation };
}

function applyExpiry(
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
    uow.post(releasePosting(fundingHold(operation as Funding), now));
  }
  const changed = changeOperation(uow, operation, failed);
  return { kind: 'applied', verdict: 'applied', operation: changed };
}

/** The reversal of a funding, or the funding if it has none, with the card. */
function findFundingOrReversal(uow: UnitOfWork, { tenantId, id, card: cardId }: FundingKey) {
  const operation = uow.get(cardOperations, fundReversalIdOf(id)) ?? uow.get(cardOperations, id);
  const card = uow.get(cards, cardId);
  const own = operation?.tenant_id === tenantId && operation.card_id === card?._id;
  return own && card ? { operation, card } : null;
}

function decideAutoReload(
  uow: UnitOfWork,
  { tenantId, id, settings }: SetAutoReload,
  now: Date,
): SetAutoReloadResult {
  const card = uow.get(cards, id);
  if (!card || card.tenant_id !== tenantId) {
    return { kind: 'refused', error: new ApiError('not_found') };
  }
  const refusal = refuseAutoReload(card);
  if (refusal) return { kind: 'refused', error: refusal };
  if (settings === null) return { kind: 'changed', card: switchOff(uow, card, now) };
  const present = card.auto_reload ?? NEW_AUTO_RELOAD;
  const short = card.available_minor < settings.threshold_minor;
  // New settings end the stop after refusals. The open reload and the amount used today stay.
  const reload: AutoReload = {
    ...present,
    ...settings,
    triggered: present.triggered && short,
    refusals: 0,
    attention: null,
  };
  const set = { auto_reload: tryAutoReload(uow, card, reload, now) };
  return { kind: 'changed', card: changeCard(uow, card, set, now) };
}

/** A card without settings has nothing to switch off. */
function switchOff(uow: UnitOfWork, card: Card, now: Date): Card {
  const { auto_reload: reload } = card;
  if (!reload) return card;
  const off = { ...reload, enabled: false, refusals: 0, attention: null };
  return changeCard(uow, card, { auto_reload: off }, now);
}

function refuseAutoReload({ status, funding }: Card): ApiError | null {
  if (status !== 'active' && status !== 'locked') {
    const message = `The card is ${status}.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  if (funding === 'prepaid') return null;
  const message = 'The card is funded just in time: it has nothing that could be reloaded.';
  return new ApiError('invalid_state', { message, details: { status, funding } });
}

type FundingRef = Pick<CardOperation, 'tenant_id' | '_id' | 'card_id' | 'reverses_operation_id'>;

/** Commits a fact about a funding. Repeats and facts out of order are safe. */
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

/** Commits the expiry of a just-in-time funding whose deadline has passed. */
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
