import { acceptOnce, refuseTakenReference } from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
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
import { cardOperations, referenceOf, type CardOperation } from '../cards/card-operation.js';
import { changeCardAndEmit, changeOperation, createOperation } from '../cards/mutations.js';
import {
  transitionCardState,
  withPendingOperation,
  isCardStateOperation,
  isAlreadyInState,
  refuseCardState,
  supersede,
  type CardStateOperation,
} from './transitions.js';

/** The input of `acceptCardState`. */
type AcceptCardState = {
  tenantId: string;
  /** The operation as it is if the issuer must be asked; built with its id, so that a repeated commit finds it. */
  operation: CardStateOperation;
  claim: Claim | null;
  /** The response for the operation as it was committed. */
  answer: (operation: CardOperation) => SavedResponse;
};
/** The input of `applyCardStateFact`. */
type ApplyCardStateFact = {
  tenantId: string;
  id: string;
  card: string;
  fact: InstructionFact;
};
/** The input of `expireCard`. */
type ExpireCard = { tenantId: string; card: string };

/** The result of `applyCardStateFact`: the operation as written, or null if there is no such operation. */
type ApplyCardStateFactResult = { operation: CardOperation | null };
/** The result of `expireCard`. */
type ExpireCardResult = { expired: boolean };

/** The pending operation of a card, which is known only when the card has been read. */
const pendingOperation =
  (card: string) =>
  (found: FoundRecords): RecordKey[] => {
    const id = found.get(cards, card)?.state_control.pending_operation_id ?? null;
    return id === null ? [] : [cardOperations.ref(id)];
  };

/** Creates a change of a card's state, supersedes the open one, and saves the response under its idempotency key. */
export const acceptCardState: Mutation<AcceptCardState, AcceptResult> = {
  reads: ({ tenantId, operation, operation: { _id: id, card_id: card }, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    references: operation.transaction_reference === null ? [] : [referenceOf(operation)],
    records: [cards.ref(card), ...(full ? [cardOperations.ref(id)] : [])],
    wallets: [tenantId],
    further: pendingOperation(card),
  }),
  decide: decideAccept,
};

/** Applies a fact about a change of a card's state. Repeats and facts out of order are safe. */
export const applyCardStateFact: Mutation<ApplyCardStateFact, ApplyCardStateFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: [cards.ref(card), cardOperations.ref(id)],
    wallets: [tenantId],
  }),
  decide: decideCardStateFact,
};

/** Expires a card after its last month, and ends its pending operation. Changes nothing else. */
export const expireCard: Mutation<ExpireCard, ExpireCardResult> = {
  reads: ({ tenantId, card }) => ({
    records: [cards.ref(card)],
    wallets: [tenantId],
    further: pendingOperation(card),
  }),
  decide: decideExpiry,
};

function decideAccept(uow: UnitOfWork, input: AcceptCardState, now: Date): AcceptResult {
  const { operation } = input;
  return acceptOnce(uow, input, now, {
    collection: cardOperations,
    id: operation._id,
    response: input.answer,
    admit() {
      const card = uow.get(cards, operation.card_id);
      if (!card) throw new Error(`there is no ${operation.card_id}`);
      return (
        refuseCardState(card, operation.type) ??
        refuseReference(uow, operation) ??
        accept(uow, card, operation, now)
      );
    },
  });
}

/** A closing may have a reference of the tenant, which the return of the balance has too. */
const refuseReference = (uow: UnitOfWork, operation: CardOperation) =>
  operation.transaction_reference === null
    ? null
    : refuseTakenReference(uow, referenceOf(operation), 'transaction_reference');

/** Accepts an operation. The newest one counts, so an open one is superseded and no longer submitted. */
function accept(
  uow: UnitOfWork,
  card: Card,
  operation: CardStateOperation,
  now: Date,
): CardOperation {
  if (operation.transaction_reference !== null) {
    uow.takeReference(referenceOf(operation), operation._id);
  }
  if (isAlreadyInState(card, operation.type)) {
    return createOperation(uow, completedAtOnce(operation, now));
  }
  supersedePending(uow, card, 'superseded', `by the ${operation.type} ${operation._id}`, now);
  const changed = changeCardAndEmit(uow, card, withPendingOperation(card, operation), now);
  return createOperation(uow, { ...operation, state_sequence: changed.state_control.sequence });
}

const completedAtOnce = (operation: CardStateOperation, now: Date): CardOperation => ({
  ...operation,
  status: 'completed',
  completed_at: now,
  next_check_at: null,
  timeline: [
    ...operation.timeline,
    timelineEntry(now, 'completed', 'bursar', { detail: 'the card is in this state already' }),
  ],
});

/** Ends the pending operation of a card. */
function supersedePending(uow: UnitOfWork, card: Card, code: string, why: string, now: Date): void {
  const { pending_operation_id: id } = card.state_control;
  const before = id === null ? undefined : uow.get(cardOperations, id);
  if (before && isOpen(before)) changeOperation(uow, before, supersede(before, code, why, now));
}

function decideCardStateFact(
  uow: UnitOfWork,
  input: ApplyCardStateFact,
  now: Date,
): ApplyCardStateFactResult {
  const operation = uow.get(cardOperations, input.id);
  const card = uow.get(cards, input.card);
  if (
    !operation ||
    !card ||
    operation.tenant_id !== input.tenantId ||
    !isCardStateOperation(operation)
  ) {
    return { operation: null };
  }
  const { next, card: set } = transitionCardState(operation, card, input.fact, now);
  if (set) changeCardAndEmit(uow, card, set, now);
  return {
    operation: next === operation ? operation : changeOperation(uow, operation, next),
  };
}

/** Expires a card. The issuer is not asked, because it declines expired cards by itself. */
function decideExpiry(uow: UnitOfWork, input: ExpireCard, now: Date): ExpireCardResult {
  const card = uow.get(cards, input.card);
  const isLive = card?.status === 'active' || card?.status === 'locked';
  if (!card || !isLive || card.tenant_id !== input.tenantId || !isPastExpiry(card, now)) {
    return { expired: false };
  }
  supersedePending(uow, card, 'card_expired', 'the card has expired', now);
  const control = { ...card.state_control, pending_operation_id: null };
  changeCardAndEmit(uow, card, { status: 'expired', state_control: control }, now);
  return { expired: true };
}
