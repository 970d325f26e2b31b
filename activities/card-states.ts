import { applyCardStateFact } from '../src/capabilities/card-states/mutations.js';
import {
  isCardStateOperation,
  STATE_AT_ISSUER,
} from '../src/capabilities/card-states/transitions.js';
import type { CardRef, NextCardState } from '../src/capabilities/card-states/workflow-contract.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import type {
  ReadStateAnswer,
  SetStateAnswer,
  CardStateRequest,
} from '../src/core/providers/card-issuer.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import { isOpen } from '../src/core/instructions/instruction.js';
import type { CardActivityDeps } from './cards.js';
import { providerActivities, type InstructionHandler } from './instructions.js';
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
  localSubmissions,
  operatorActs,
  log,
}: CardActivityDeps): InstructionHandler<CardOperation> => ({
  name: 'card operation',
  records: operations,
  log,
  localSubmissions,
  operatorActs,
  capability: 'cards',

  async providerCallsFor(operation) {
    const {
      _id: id,
      tenant_id: tenantId,
      card_id: cardId,
      state_sequence: version,
      request_id: requestId,
    } = operation;
    const card = (await cards.get(tenantId, cardId))?.issued?.issuer_card_id;
    if (!card || version === null || !isCardStateOperation(operation)) {
      throw new Error(`${id} changes no state of an issued card`);
    }
    const issuer = providers.issuer(operation.provider);
    const wanted = { card, state: STATE_AT_ISSUER[operation.type], version };
    const clientReference = requestId ?? id;
    return {
      provider: issuer.name,
      resendSafety: { kind: 'idempotent', forMs: null },
      submit: async (requestedAt, signal) =>
        readSubmitAnswer(
          await issuer.setState({ ...wanted, clientReference, requestedAt }, signal),
        ),
      verify: async (signal) => readStateAnswer(await issuer.readState(card, signal), wanted),
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

/** The outcome of a state request. Rejections are temporary, except that a closed card stays closed. */
function readSubmitAnswer(answer: SetStateAnswer): ProviderOutcome {
  const { providerRequestId } = answer;
  if (answer.kind === 'set') return { ...SUCCEEDED, providerRequestId };
  if (answer.kind !== 'rejected') return answer;
  const { code } = answer;
  if (code === 'card_closed') return { kind: 'rejected', code, providerRequestId };
  // A newer request was applied first. Verifying reads the card's state and decides.
  const overtaken = code === 'superseded' || code === 'version_conflict';
  return overtaken
    ? { kind: 'pending', providerRequestId }
    : { kind: 'rejected_temporarily', code, providerRequestId };
}

function readStateAnswer(
  answer: ReadStateAnswer,
  wanted: Pick<CardStateRequest, 'state' | 'version'>,
): ProviderOutcome {
  if (answer.kind !== 'state') return answer;
  const { providerRequestId, state, version } = answer;
  if (version >= wanted.version) {
    return state === wanted.state
      ? { ...SUCCEEDED, providerRequestId }
      : { kind: 'pending', providerRequestId };
  }
  return state === 'closed' && wanted.state !== 'closed'
    ? { kind: 'rejected', code: 'card_closed', providerRequestId }
    : { kind: 'not_found', providerRequestId };
}

const SUCCEEDED = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;
