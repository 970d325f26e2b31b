import type { Kind } from '../../ledger/kind.js';
import {
  answerWith,
  earlierAnswer,
  type AcceptOutcome,
  type Answer,
  type Claim,
  type View,
} from '../../ledger/view.js';
import type { Card } from '../card.js';
import { changeCard } from '../change.js';
import type { CardOperation } from '../operation.js';
import { applyIssueFactTo, type IssueFact, type IssueTransition } from './facts.js';

export type AcceptCardItem = {
  kind: 'acceptCard';
  tenant: string;
  /** Complete, with their ids, before they queue. */
  card: Card;
  operation: CardOperation;
  claim: Claim | null;
  /** What the client is told. */
  answer: Answer;
};
export type IssueFactItem = {
  kind: 'issueFact';
  tenant: string;
  /** The operation's id. */
  id: string;
  card: string;
  fact: IssueFact;
};

export type IssueFactOutcome =
  | {
      kind: 'issueFact';
      verdict: IssueTransition['verdict'];
      operation: CardOperation;
      card: Card;
    }
  | { kind: 'no_such_operation' };

const acceptCard: Kind<AcceptCardItem, AcceptOutcome> = {
  reads: ({ card, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    // Nobody else can have made it: looked up only by who may have done so before.
    records: { cards: complete ? [card._id] : [] },
  }),
  decide: decideAccept,
  weigh: ({ answer }) => 3_000 + 2 * answer.body.length,
};

const issueFact: Kind<IssueFactItem, IssueFactOutcome> = {
  reads: ({ tenant, id, card }) => ({
    records: { card_operations: [id], cards: [card] },
    wallets: [tenant],
  }),
  decide: decideFact,
};

/** What issuing commits; see kinds.ts. */
export const issuingKinds = { acceptCard, issueFact };

function decideAccept(view: View, item: AcceptCardItem, now: Date): AcceptOutcome {
  const { card, operation, claim, answer } = item;
  const earlier = earlierAnswer(view, claim, card._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (view.record('cards', card._id)) {
    return { kind: 'answered', answer, resource: card._id, replayed: false };
  }
  view.create('cards', card);
  view.create('card_operations', operation);
  return answerWith(view, item, answer, card._id);
}

function decideFact(view: View, item: IssueFactItem, now: Date): IssueFactOutcome {
  const operation = view.record('card_operations', item.id);
  const card = view.record('cards', item.card);
  if (operation?.tenant !== item.tenant || card?._id !== operation.card) {
    return { kind: 'no_such_operation' };
  }
  const transition = applyIssueFactTo(operation, card, item.fact, now);
  const { verdict, operation: next } = transition;
  if (next !== operation) view.change('card_operations', next);
  const changed = transition.card ? changeCard(view, card, transition.card, now) : card;
  return { kind: 'issueFact', verdict, operation: next, card: changed };
}
