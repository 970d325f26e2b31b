import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { cards, type Card } from './card.js';
import { changeCard } from './change-card.js';
import { cardOperations, type CardOperation } from './card-operation.js';
import { transitionIssuance, type IssuanceFact, type IssuanceTransition } from './transitions.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';

/** The input of `acceptCard`. */
export type AcceptCard = {
  tenantId: string;
  /** Card and operation are built with their ids before the commit, so that a repeated commit finds them. */
  card: Card;
  operation: CardOperation;
  claim: Claim | null;
  /** The response that is saved under the idempotency key. */
  answer: SavedResponse;
};
/** The input of `applyIssuanceFact`. */
export type ApplyIssuanceFact = {
  tenantId: string;
  /** The id of the operation. */
  id: string;
  card: string;
  fact: IssuanceFact;
};

/** The result of `applyIssuanceFact`: operation and card as they are after the commit. */
export type ApplyIssuanceFactResult =
  | {
      kind: 'applied';
      verdict: IssuanceTransition['verdict'];
      operation: CardOperation;
      card: Card;
    }
  | { kind: 'no_such_operation' };

/** Creates a card and the operation that issues it, and saves the response under its idempotency key. */
export const acceptCard: Mutation<AcceptCard, AcceptResult> = {
  reads: ({ card, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    // The id is new. Only a repeated commit can find the card.
    records: full ? [cards.ref(card._id)] : [],
  }),
  decide: decideAccept,
  weigh: ({ answer }) => 3_000 + 2 * answer.body.length,
};

/** Applies a fact about the issuance to operation and card. Repeats and facts out of order are safe. */
export const applyIssuanceFact: Mutation<ApplyIssuanceFact, ApplyIssuanceFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: [cardOperations.ref(id), cards.ref(card)],
    wallets: [tenantId],
  }),
  decide: decideIssuanceFact,
};

function decideAccept(uow: UnitOfWork, input: AcceptCard, now: Date): AcceptResult {
  const { card, operation, claim, answer } = input;
  const earlier = findSavedResponse(uow, claim, card._id, now);
  if (earlier) return earlier;
  // An earlier attempt of this commit succeeded, but its result was lost.
  if (uow.get(cards, card._id)) {
    return { kind: 'answered', answer, resource: card._id, replayed: false };
  }
  uow.create(cards, card);
  uow.create(cardOperations, operation);
  return saveResponse(uow, input, answer, card._id);
}

function decideIssuanceFact(
  uow: UnitOfWork,
  input: ApplyIssuanceFact,
  now: Date,
): ApplyIssuanceFactResult {
  const operation = uow.get(cardOperations, input.id);
  const card = uow.get(cards, input.card);
  if (operation?.tenant_id !== input.tenantId || card?._id !== operation.card_id) {
    return { kind: 'no_such_operation' };
  }
  const transition = transitionIssuance(operation, card, input.fact, now);
  const { verdict, operation: next } = transition;
  if (next !== operation) uow.change(cardOperations, next);
  const changed = transition.card ? changeCard(uow, card, transition.card, now) : card;
  return { kind: 'applied', verdict, operation: next, card: changed };
}

/** Commits a fact about the issuance of a card. Repeats and facts out of order are safe. */
export const commitIssuanceFact = (
  groupCommit: GroupCommit,
  {
    tenant_id: tenantId,
    _id: id,
    card_id: card,
  }: Pick<CardOperation, 'tenant_id' | '_id' | 'card_id'>,
  fact: IssuanceFact,
): Promise<ApplyIssuanceFactResult> =>
  groupCommit.commit(applyIssuanceFact, { tenantId, id, card, fact });
