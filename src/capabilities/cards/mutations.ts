import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
  type UnitOfWork,
} from '../../core/commit/unit-of-work.js';
import type { Card } from './card.js';
import { changeCard } from './change.js';
import type { CardOperation } from './card-operation.js';
import { transitionIssuance, type IssuanceFact, type IssueTransition } from './transitions.js';

export type AcceptCard = {
  kind: 'acceptCard';
  tenantId: string;
  /** Complete, with their ids, before they queue. */
  card: Card;
  operation: CardOperation;
  claim: Claim | null;
  /** What the client is told. */
  answer: SavedResponse;
};
export type ApplyIssuanceFact = {
  kind: 'issueFact';
  tenantId: string;
  /** The operation's id. */
  id: string;
  card: string;
  fact: IssuanceFact;
};

export type ApplyIssuanceFactResult =
  | {
      kind: 'issueFact';
      verdict: IssueTransition['verdict'];
      operation: CardOperation;
      card: Card;
    }
  | { kind: 'no_such_operation' };

const acceptCard: Mutation<AcceptCard, AcceptResult> = {
  reads: ({ card, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    // Nobody else can have made it: looked up only by who may have done so before.
    records: { cards: complete ? [card._id] : [] },
  }),
  decide: decideAccept,
  weigh: ({ answer }) => 3_000 + 2 * answer.body.length,
};

const applyIssuanceFact: Mutation<ApplyIssuanceFact, ApplyIssuanceFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: { card_operations: [id], cards: [card] },
    wallets: [tenantId],
  }),
  decide: decideFact,
};

/** What issuing commits; see kinds.ts. */
export const issuingKinds = { acceptCard, issueFact: applyIssuanceFact };

function decideAccept(uow: UnitOfWork, item: AcceptCard, now: Date): AcceptResult {
  const { card, operation, claim, answer } = item;
  const earlier = findSavedResponse(uow, claim, card._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (uow.record('cards', card._id)) {
    return { kind: 'answered', answer, resource: card._id, replayed: false };
  }
  uow.create('cards', card);
  uow.create('card_operations', operation);
  return saveResponse(uow, item, answer, card._id);
}

function decideFact(uow: UnitOfWork, item: ApplyIssuanceFact, now: Date): ApplyIssuanceFactResult {
  const operation = uow.record('card_operations', item.id);
  const card = uow.record('cards', item.card);
  if (operation?.tenant_id !== item.tenantId || card?._id !== operation.card_id) {
    return { kind: 'no_such_operation' };
  }
  const transition = transitionIssuance(operation, card, item.fact, now);
  const { verdict, operation: next } = transition;
  if (next !== operation) uow.change('card_operations', next);
  const changed = transition.card ? changeCard(uow, card, transition.card, now) : card;
  return { kind: 'issueFact', verdict, operation: next, card: changed };
}
