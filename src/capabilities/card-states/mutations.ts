import {
  acceptOnce,
  refuseTakenReference,
  keysOf,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork, FoundRecords } from '../../core/commit/unit-of-work.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { instructionState, isOpen, timelineEntry } from '../../core/instructions/instruction.js';
import { cards, isPastExpiry, type Card, desiredAtIssuer } from '../cards/record.js';
import {
  cardOperations,
  referenceOf,
  type CardOperation,
  newOperation,
} from '../cards/card-operation.js';
import { changeCardAndEmit, changeOperation, createOperation } from '../cards/mutations.js';
import {
  transitionCardState,
  withPendingOperation,
  isCardStateOperation,
  isAlreadyInState,
  refuseCardState,
  type CardStateOperation,
  type CardStateType,
  doubt,
  supersede,
} from './transitions.js';
import type { RecordKey } from '../../core/commit/collection.js';

/** The input of `acceptCardState`. */
type AcceptCardState = {
  tenantId: string;
  /** The operation as it is if the issuer must be asked; built with its id, so that a repeated commit finds it. */
  operation: CardStateOperation & { type: CardStateType };
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

/** Creates a change of a card's state, supersedes the open one, and saves the response under its idempotency key. */
export const acceptCardState: Mutation<AcceptCardState, AcceptResult> = {
  reads: ({ tenantId, operation, operation: { _id: id, card_id: card }, claim }, full) => ({
    keys: keysOf(claim),
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
  audited: (uow, { id }) => instructionState(uow.get(cardOperations, id)),
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
  operation: CardStateOperation & { type: CardStateType },
  now: Date,
): CardOperation {
  if (operation.transaction_reference !== null) {
    uow.takeReference(referenceOf(operation), operation._id);
  }
  if (isAlreadyInState(card, operation.type)) {
    return createOperation(uow, completedAtOnce(operation, now));
  }
  const why = `by the ${operation.type} ${operation._id}`;
  const { doubted } = supersedePending(uow, card, 'superseded', why, now);
  const set = withPendingOperation(card, operation);
  const control = { ...card.state_control, ...set.state_control, ...doubted };
  const changed = changeCardAndEmit(uow, card, { ...set, state_control: control }, now);
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

/** The pending operation of a card, which is known only when the card has been read. */
export const pendingOperation =
  (card: string) =>
  (found: FoundRecords): RecordKey[] => {
    const id = found.get(cards, card)?.state_control.pending_operation_id ?? null;
    return id === null ? [] : [cardOperations.ref(id)];
  };

/**
 * Ends the pending operation of a card. `doubted` is set if its request may still be executed. The mutation must have read
 * the operation.
 */
export function supersedePending(
  uow: UnitOfWork,
  card: Card,
  code: string,
  why: string,
  now: Date,
): { doubted: Partial<Card['state_control']>; wasUnlock: boolean } {
  const { pending_operation_id: id } = card.state_control;
  const before = id === null ? undefined : uow.get(cardOperations, id);
  if (!before || !isOpen(before)) return { doubted: {}, wasUnlock: false };
  changeOperation(uow, before, supersede(before, code, why, now));
  return { doubted: doubt(card, before, false, now), wasUnlock: before.type === 'unlock' };
}

/**
 * Makes the operation that sets the state of a card at the issuer again; `card` has the state that it should have, and no
 * pending operation. An issuer that keeps no order gets no new version, so that an open card stays open meanwhile.
 */
export function withReset(uow: UnitOfWork, card: Card, why: string, now: Date): Card {
  const { state_control: control } = card;
  const isSame = card.state_sequence === 'ours' && desiredAtIssuer(card) === 'open';
  const sequence = isSame ? control.sequence : control.sequence + 1;
  const operation = newOperation(
    {
      tenant_id: card.tenant_id,
      card_id: card._id,
      type: 'state_reset',
      provider: card.provider,
      state_sequence: sequence,
    },
    now,
    why,
  );
  uow.create(cardOperations, operation);
  return {
    ...card,
    state_control: { ...control, sequence, pending_operation_id: operation._id },
  };
}
