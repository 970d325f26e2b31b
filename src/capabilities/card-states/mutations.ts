import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  refusalResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
  type Snapshot,
  type UnitOfWork,
} from '../../core/commit/unit-of-work.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { isPastExpiry, type Card } from '../cards/card.js';
import type { CardOperation } from '../cards/card-operation.js';
import { changeCardAndTell, changeOperation, createOperation } from '../cards/emit.js';
import {
  controlled,
  isControl,
  isSo,
  refuseControl,
  givenUp,
  type ControlOperation,
} from './card-state.js';
import { transitionCardState } from './transitions.js';

/** A lock, an unlock or a closing that is asked for. */
export type AcceptCardState = {
  kind: 'acceptControl';
  tenantId: string;
  /** Complete, with its id, before it queues; as it is if something has to be done for it. */
  operation: ControlOperation;
  claim: Claim | null;
  /** What the client is told of the operation as it was decided. */
  answer: (operation: CardOperation) => SavedResponse;
};
export type ApplyCardStateFact = {
  kind: 'controlFact';
  tenantId: string;
  id: string;
  card: string;
  fact: InstructionFact;
};
export type ExpireCard = { kind: 'expireCard'; tenantId: string; card: string };

/** Null where there is no such operation. */
export type ApplyCardStateFactResult = { kind: 'controlFact'; operation: CardOperation | null };
export type ExpireCardResult = { kind: 'expireCard'; expired: boolean };

/** What is under way for the cards, which only they can name. */
const underWay =
  (...cards: string[]) =>
  ({ cards: found }: Snapshot['records']) => ({
    card_operations: cards.flatMap(
      (card) => found.get(card)?.state_control.pending_operation_id ?? [],
    ),
  });

const acceptCardState: Mutation<AcceptCardState, AcceptResult> = {
  reads: ({ tenantId, operation: { _id: id, card_id: card }, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    records: { cards: [card], card_operations: complete ? [id] : [] },
    wallets: [tenantId],
    further: underWay(card),
  }),
  decide: decideControl,
};

const applyCardStateFact: Mutation<ApplyCardStateFact, ApplyCardStateFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: { cards: [card], card_operations: [id] },
    wallets: [tenantId],
  }),
  decide: decideFact,
};

const expireCard: Mutation<ExpireCard, ExpireCardResult> = {
  reads: ({ tenantId, card }) => ({
    records: { cards: [card] },
    wallets: [tenantId],
    further: underWay(card),
  }),
  decide: decideExpiry,
};

/** What the control of cards commits; see kinds.ts. */
export const cardControlKinds = { acceptControl: acceptCardState, controlFact: applyCardStateFact, expireCard };

function decideControl(uow: UnitOfWork, item: AcceptCardState, now: Date): AcceptResult {
  const { claim, operation } = item;
  const earlier = findSavedResponse(uow, claim, operation._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  const own = uow.record('card_operations', operation._id);
  if (own)
    return { kind: 'answered', answer: item.answer(own), resource: own._id, replayed: false };
  const card = uow.record('cards', operation.card_id);
  if (!card) throw new Error('a card that was there is gone');
  const refusal = refuseControl(card, operation.type);
  if (refusal) return saveResponse(uow, item, refusalResponse(refusal));
  const accepted = accept(uow, card, operation, now);
  return saveResponse(uow, item, item.answer(accepted), accepted._id);
}

/** The newest operation counts: one that is still under way ends with it, and the issuer is told no more of it. */
function accept(
  uow: UnitOfWork,
  card: Card,
  operation: ControlOperation,
  now: Date,
): CardOperation {
  if (isSo(card, operation.type)) return createOperation(uow, doneAlready(operation, now));
  supersedePending(uow, card, 'superseded', `by the ${operation.type} ${operation._id}`, now);
  const changed = changeCardAndTell(uow, card, controlled(card, operation), now);
  return createOperation(uow, { ...operation, state_sequence: changed.state_control.sequence });
}

const doneAlready = (operation: ControlOperation, now: Date): CardOperation => ({
  ...operation,
  status: 'completed',
  completed_at: now,
  next_check_at: null,
  timeline: [
    ...operation.timeline,
    timelineEntry(now, 'completed', 'bursar', { detail: 'it was so already' }),
  ],
});

/** Ends what is under way for a card. */
function supersedePending(uow: UnitOfWork, card: Card, code: string, why: string, now: Date): void {
  const { pending_operation_id: id } = card.state_control;
  const before = id === null ? undefined : uow.record('card_operations', id);
  if (before && isOpen(before)) changeOperation(uow, before, givenUp(before, code, why, now));
}

function decideFact(uow: UnitOfWork, item: ApplyCardStateFact, now: Date): ApplyCardStateFactResult {
  const operation = uow.record('card_operations', item.id);
  const card = uow.record('cards', item.card);
  if (!operation || !card || operation.tenant_id !== item.tenantId || !isControl(operation)) {
    return { kind: 'controlFact', operation: null };
  }
  const { next, card: set } = transitionCardState(operation, card, item.fact, now);
  if (set) changeCardAndTell(uow, card, set, now);
  return {
    kind: 'controlFact',
    operation: next === operation ? operation : changeOperation(uow, operation, next),
  };
}

/** The end of a card whose month is over. The issuer knows that as well as we do. */
function decideExpiry(uow: UnitOfWork, item: ExpireCard, now: Date): ExpireCardResult {
  const card = uow.record('cards', item.card);
  const isLive = card?.status === 'active' || card?.status === 'locked';
  if (!card || !isLive || card.tenant_id !== item.tenantId || !isPastExpiry(card, now)) {
    return { kind: 'expireCard', expired: false };
  }
  supersedePending(uow, card, 'card_expired', 'the card has expired', now);
  const control = { ...card.state_control, pending_operation_id: null };
  changeCardAndTell(uow, card, { status: 'expired', state_control: control }, now);
  return { kind: 'expireCard', expired: true };
}
