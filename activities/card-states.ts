import { applyCardStateFact } from '../src/capabilities/card-states/mutations.js';
import { cardStateCalls } from '../src/capabilities/card-states/provider-calls.js';
import { isCardStateOperation, stateSetBy } from '../src/capabilities/card-states/transitions.js';
import type { CardRef, NextCardState } from '../src/capabilities/card-states/workflow-contract.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import { isOpen } from '../src/core/instructions/instruction.js';
import type { CardActivityDeps } from './cards.js';
import { sharedParts, type InstructionHandler } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { toFact } from './provider-result.js';

/** The activities that set a card's state at its issuer. Their names are in histories, so they never change. */
export function createCardStateActivities(deps: CardActivityDeps) {
  const activities = providerActivities(cardStateHandler(deps));
  return {
    submitCardState: activities.submit,
    submitCardStateLocally: activities.submitLocally,
    verifyCardState: activities.verify,
    applyCardStateOutcome: activities.applyOutcome,

    /** The card's open lock, unlock or closing; null if there is none. */
    async findNextCardState({ tenantId, cardId }: CardRef): Promise<NextCardState | null> {
      const id = (await deps.cards.store.get(tenantId, cardId))?.state_control.pending_operation_id;
      const operation = id ? await deps.cards.operations.get(tenantId, id) : null;
      if (!operation || !isOpen(operation)) return null;
      return { id: operation._id, acceptedAtMs: operation.created_at.getTime() };
    },
  };
}

/** A request carries the sequence number of its change, so that a late request cannot undo a newer one. */
const cardStateHandler = ({
  cards: { store: cards, operations },
  groupCommit,
  providers,
  ...deps
}: CardActivityDeps): InstructionHandler<CardOperation> => ({
  name: 'card operation',
  records: operations,
  ...sharedParts(deps),
  capability: 'cards',

  async providerCallsFor(operation) {
    const { _id: id, tenant_id: tenantId, card_id: cardId, state_sequence: version } = operation;
    const found = await cards.get(tenantId, cardId);
    const card = found?.issued?.issuer_card_id;
    if (!found || !card || version === null || !isCardStateOperation(operation)) {
      throw new Error(`${id} changes no state of an issued card`);
    }
    const issuer = providers.issuer(operation.provider);
    const clientReference = operation.request_id ?? id;
    const wanted = { card, state: stateSetBy(operation, found), version, clientReference };
    const isReset = operation.type === 'state_reset';
    const { sequence } = found.state_control;
    return {
      provider: issuer.name,
      resendSafety: { kind: 'idempotent', forMs: null },
      ...cardStateCalls(
        { issuer, groupCommit },
        { tenantId, cardId, operationId: id, wanted, sequence, isReset },
      ),
    };
  },

  async apply({ tenantId, id }, report, origin) {
    const operation = await operations.get(tenantId, id);
    if (!operation) return null;
    const { card_id: card } = operation;
    const fact = toFact(report, origin);
    return (await groupCommit.commit(applyCardStateFact, { tenantId, id, card, fact })).operation;
  },
});
