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
import { changeCard } from './change.js';
import { cardOperations, type CardOperation } from './card-operation.js';
import { transitionIssuance, type IssuanceFact, type IssuanceTransition } from './transitions.js';

export type AcceptCard = {
  tenantId: string;
  /** Complete, with their ids, before they queue. */
  card: Card;
  operation: CardOperation;
  claim: Claim | null;
  /** What the client is told. */
  answer: SavedResponse;
};
export type ApplyIssuanceFact = {
  tenantId: string;
  /** The operation's id. */
  id: string;
  card: string;
  fact: IssuanceFact;
};

export type ApplyIssuanceFactResult =
  | {
      kind: 'issueFact';
      verdict: IssuanceTransition['verdict'];
      operation: CardOperation;
      card: Card;
    }
  | { kind: 'no_such_operation' };

export const acceptCard: Mutation<AcceptCard, AcceptResult> = {
  reads: ({ card, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    // Nobody else can have made it: looked up only by who may have done so before.
    records: full ? [cards.ref(card._id)] : [],
  }),
  decide: decideAccept,
  weigh: ({ answer }) => 3_000 + 2 * answer.body.length,
};

export const applyIssuanceFact: Mutation<ApplyIssuanceFact, ApplyIssuanceFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: [cardOperations.ref(id), cards.ref(card)],
    wallets: [tenantId],
  }),
  decide: decideFact,
};

function decideAccept(uow: UnitOfWork, item: AcceptCard, now: Date): AcceptResult {
  const { card, operation, claim, answer } = item;
  const earlier = findSavedResponse(uow, claim, card._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (uow.get(cards, card._id)) {
    return { kind: 'answered', answer, resource: card._id, replayed: false };
  }
  uow.create(cards, card);
  uow.create(cardOperations, operation);
  return saveResponse(uow, item, answer, card._id);
}

function decideFact(uow: UnitOfWork, item: ApplyIssuanceFact, now: Date): ApplyIssuanceFactResult {
  const operation = uow.get(cardOperations, item.id);
  const card = uow.get(cards, item.card);
  if (operation?.tenant_id !== item.tenantId || card?._id !== operation.card_id) {
    return { kind: 'no_such_operation' };
  }
  const transition = transitionIssuance(operation, card, item.fact, now);
  const { verdict, operation: next } = transition;
  if (next !== operation) uow.change(cardOperations, next);
  const changed = transition.card ? changeCard(uow, card, transition.card, now) : card;
  return { kind: 'issueFact', verdict, operation: next, card: changed };
}
