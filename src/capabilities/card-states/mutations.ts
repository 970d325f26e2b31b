import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  refusalResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import type { RecordKey } from '../../core/commit/collection.js';
import type { FoundRecords, UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { cards, isPastExpiry, type Card } from '../cards/card.js';
import { cardOperations, type CardOperation } from '../cards/card-operation.js';
import { changeCardAndEmit, changeOperation, createOperation } from '../cards/change-card.js';
import {
  withPendingOperation,
  isCardStateOperation,
  isAlreadyInState,
  refuseCardState,
  supersede,
  type CardStateOperation,
} from './card-state.js';
import { transitionCardState } from './transitions.js';

/** A lock, an unlock or a closing that is asked for. */
export type AcceptCardState = {
  tenantId: string;
  /** Complete, with its id, before it queues; as it is if something has to be done for it. */
  operation: CardStateOperation;
  claim: Claim | null;
  /** What the client is told of the operation as it was decided. */
  answer: (operation: CardOperation) => SavedResponse;
};
export type ApplyCardStateFact = {
  tenantId: string;
  id: string;
  card: string;
  fact: InstructionFact;
};
export type ExpireCard = { tenantId: string; card: string };

/** Null where there is no such operation. */
export type ApplyCardStateFactResult = { operation: CardOperation | null };
export type ExpireCardResult = { expired: boolean };

/** What is under way for the cards, which only they can name. */
const pendingOperation =
  (card: string) =>
  (found: FoundRecords): RecordKey[] => {
    const id = found.get(cards, card)?.state_control.pending_operation_id ?? null;
    return id === null ? [] : [cardOperations.ref(id)];
  };

export const acceptCardState: Mutation<AcceptCardState, AcceptResult> = {
  reads: ({ tenantId, operation: { _id: id, card_id: card }, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    records: [cards.ref(card), ...(full ? [cardOperations.ref(id)] : [])],
    wallets: [tenantId],
    further: pendingOperation(card),
  }),
  decide: decideAccept,
};

export const applyCardStateFact: Mutation<ApplyCardStateFact, ApplyCardStateFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: [cards.ref(card), cardOperations.ref(id)],
    wallets: [tenantId],
  }),
  decide: decideFact,
};

export const expireCard: Mutation<ExpireCard, ExpireCardResult> = {
  reads: ({ tenantId, card }) => ({
    records: [cards.ref(card)],
    wallets: [tenantId],
    further: pendingOperation(card),
  }),
  decide: decideExpiry,
};

function decideAccept(uow: UnitOfWork, item: AcceptCardState, now: Date): AcceptResult {
  const { claim, operation } = item;
  const earlier = findSavedResponse(uow, claim, operation._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  const own = uow.get(cardOperations, operation._id);
  if (own)
    return { kind: 'answered', answer: item.answer(own), resource: own._id, replayed: false };
  const card = uow.get(cards, operation.card_id);
  if (!card) throw new Error('a card that was there is gone');
  const refusal = refuseCardState(card, operation.type);
  if (refusal) return saveResponse(uow, item, refusalResponse(refusal));
  const accepted = accept(uow, card, operation, now);
  return saveResponse(uow, item, item.answer(accepted), accepted._id);
}

/** The newest operation counts: one that is still under way ends with it, and the issuer is told no more of it. */
function accept(
  uow: UnitOfWork,
  card: Card,
  operation: CardStateOperation,
  now: Date,
): CardOperation {
  if (isAlreadyInState(card, operation.type))
    return createOperation(uow, doneAlready(operation, now));
  supersedePending(uow, card, 'superseded', `by the ${operation.type} ${operation._id}`, now);
  const changed = changeCardAndEmit(uow, card, withPendingOperation(card, operation), now);
  return createOperation(uow, { ...operation, state_sequence: changed.state_control.sequence });
}

const doneAlready = (operation: CardStateOperation, now: Date): CardOperation => ({
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
  const before = id === null ? undefined : uow.get(cardOperations, id);
  if (before && isOpen(before)) changeOperation(uow, before, supersede(before, code, why, now));
}

function decideFact(
  uow: UnitOfWork,
  item: ApplyCardStateFact,
  now: Date,
): ApplyCardStateFactResult {
  const operation = uow.get(cardOperations, item.id);
  const card = uow.get(cards, item.card);
  if (
    !operation ||
    !card ||
    operation.tenant_id !== item.tenantId ||
    !isCardStateOperation(operation)
  ) {
    return { operation: null };
  }
  const { next, card: set } = transitionCardState(operation, card, item.fact, now);
  if (set) changeCardAndEmit(uow, card, set, now);
  return {
    operation: next === operation ? operation : changeOperation(uow, operation, next),
  };
}

/** The end of a card whose month is over. The issuer knows that as well as we do. */
function decideExpiry(uow: UnitOfWork, item: ExpireCard, now: Date): ExpireCardResult {
  const card = uow.get(cards, item.card);
  const isLive = card?.status === 'active' || card?.status === 'locked';
  if (!card || !isLive || card.tenant_id !== item.tenantId || !isPastExpiry(card, now)) {
    return { expired: false };
  }
  supersedePending(uow, card, 'card_expired', 'the card has expired', now);
  const control = { ...card.state_control, pending_operation_id: null };
  changeCardAndEmit(uow, card, { status: 'expired', state_control: control }, now);
  return { expired: true };
}
