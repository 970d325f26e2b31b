import type { Kind } from '../../ledger/kind.js';
import {
  answerWith,
  earlierAnswer,
  refusalAnswer,
  type AcceptOutcome,
  type Answer,
  type Claim,
  type Snapshot,
  type View,
} from '../../ledger/view.js';
import type { PursuitFact } from '../../pursuits/facts.js';
import { isOpen } from '../../pursuits/record.js';
import { timelineEntry } from '../../pursuits/timeline.js';
import { isPastExpiry, type Card } from '../card.js';
import type { CardOperation } from '../operation.js';
import { changeCardAndTell, changeOperation, createOperation } from '../told.js';
import {
  controlled,
  isControl,
  isSo,
  refuseControl,
  givenUp,
  type ControlOperation,
} from './control.js';
import { applyControlFact } from './facts.js';

/** A lock, an unlock or a closing that is asked for. */
export type AcceptControlItem = {
  kind: 'acceptControl';
  tenant: string;
  /** Complete, with its id, before it queues; as it is if something has to be done for it. */
  operation: ControlOperation;
  claim: Claim | null;
  /** What the client is told of the operation as it was decided. */
  answer: (operation: CardOperation) => Answer;
};
export type ControlFactItem = {
  kind: 'controlFact';
  tenant: string;
  id: string;
  card: string;
  fact: PursuitFact;
};
export type ExpireItem = { kind: 'expireCard'; tenant: string; card: string };

/** Null where there is no such operation. */
export type ControlFactOutcome = { kind: 'controlFact'; operation: CardOperation | null };
export type ExpireOutcome = { kind: 'expireCard'; expired: boolean };

/** What is under way for the cards, which only they can name. */
const underWay =
  (...cards: string[]) =>
  ({ cards: found }: Snapshot['records']) => ({
    card_operations: cards.flatMap((card) => found.get(card)?.control.operation ?? []),
  });

const acceptControl: Kind<AcceptControlItem, AcceptOutcome> = {
  reads: ({ tenant, operation: { _id: id, card }, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    records: { cards: [card], card_operations: complete ? [id] : [] },
    wallets: [tenant],
    further: underWay(card),
  }),
  decide: decideControl,
};

const controlFact: Kind<ControlFactItem, ControlFactOutcome> = {
  reads: ({ tenant, id, card }) => ({
    records: { cards: [card], card_operations: [id] },
    wallets: [tenant],
  }),
  decide: decideFact,
};

const expireCard: Kind<ExpireItem, ExpireOutcome> = {
  reads: ({ tenant, card }) => ({
    records: { cards: [card] },
    wallets: [tenant],
    further: underWay(card),
  }),
  decide: decideExpiry,
};

/** What the control of cards commits; see kinds.ts. */
export const cardControlKinds = { acceptControl, controlFact, expireCard };

function decideControl(view: View, item: AcceptControlItem, now: Date): AcceptOutcome {
  const { claim, operation } = item;
  const earlier = earlierAnswer(view, claim, operation._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  const own = view.record('card_operations', operation._id);
  if (own)
    return { kind: 'answered', answer: item.answer(own), resource: own._id, replayed: false };
  const card = view.record('cards', operation.card);
  if (!card) throw new Error('a card that was there is gone');
  const refusal = refuseControl(card, operation.type);
  if (refusal) return answerWith(view, item, refusalAnswer(refusal));
  const accepted = accept(view, card, operation, now);
  return answerWith(view, item, item.answer(accepted), accepted._id);
}

/** The newest operation counts: one that is still under way ends with it, and the issuer is told no more of it. */
function accept(view: View, card: Card, operation: ControlOperation, now: Date): CardOperation {
  if (isSo(card, operation.type)) return createOperation(view, doneAlready(operation, now));
  giveUp(view, card, 'superseded', `by the ${operation.type} ${operation._id}`, now);
  const changed = changeCardAndTell(view, card, controlled(card, operation), now);
  return createOperation(view, { ...operation, number: changed.control.number });
}

const doneAlready = (operation: ControlOperation, now: Date): CardOperation => ({
  ...operation,
  status: 'completed',
  completed_at: now,
  due_at: null,
  timeline: [
    ...operation.timeline,
    timelineEntry(now, 'settled', 'bursar', { detail: 'it was so already' }),
  ],
});

/** Ends what is under way for a card. */
function giveUp(view: View, card: Card, code: string, why: string, now: Date): void {
  const { operation: id } = card.control;
  const before = id === null ? undefined : view.record('card_operations', id);
  if (before && isOpen(before)) changeOperation(view, before, givenUp(before, code, why, now));
}

function decideFact(view: View, item: ControlFactItem, now: Date): ControlFactOutcome {
  const operation = view.record('card_operations', item.id);
  const card = view.record('cards', item.card);
  if (!operation || !card || operation.tenant !== item.tenant || !isControl(operation)) {
    return { kind: 'controlFact', operation: null };
  }
  const { next, card: set } = applyControlFact(operation, card, item.fact, now);
  if (set) changeCardAndTell(view, card, set, now);
  return {
    kind: 'controlFact',
    operation: next === operation ? operation : changeOperation(view, operation, next),
  };
}

/** The end of a card whose month is over. The issuer knows that as well as we do. */
function decideExpiry(view: View, item: ExpireItem, now: Date): ExpireOutcome {
  const card = view.record('cards', item.card);
  const isLive = card?.status === 'active' || card?.status === 'locked';
  if (!card || !isLive || card.tenant !== item.tenant || !isPastExpiry(card, now)) {
    return { kind: 'expireCard', expired: false };
  }
  giveUp(view, card, 'card_expired', 'the card has expired', now);
  const control = { ...card.control, operation: null };
  changeCardAndTell(view, card, { status: 'expired', control }, now);
  return { kind: 'expireCard', expired: true };
}
