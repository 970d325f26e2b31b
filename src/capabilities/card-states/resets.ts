import type { RecordKey } from '../../core/commit/collection.js';
import type { FoundRecords, UnitOfWork } from '../../core/commit/unit-of-work.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { cards, desiredAtIssuer, type Card } from '../cards/card.js';
import { cardOperations, newOperation } from '../cards/card-operation.js';
import { changeOperation } from '../cards/mutations.js';
import { doubt, supersede } from './transitions.js';

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
