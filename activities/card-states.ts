import { applyCardStateFact } from '../src/capabilities/card-states/mutations.js';
import { isCardStateOperation, stateSetBy } from '../src/capabilities/card-states/transitions.js';
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
import type { InstructionHandler } from './instruction-handler.js';
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
    const { _id: id, tenant_id: tenantId, card_id: cardId, state_sequence: version } = operation;
    const found = await cards.get(tenantId, cardId);
    const card = found?.issued?.issuer_card_id;
    if (!found || !card || version === null || !isCardStateOperation(operation)) {
      throw new Error(`${id} changes no state of an issued card`);
    }
    const issuer = providers.issuer(operation.provider);
    const wanted = { card, state: stateSetBy(operation, found), version };
    const clientReference = operation.request_id ?? id;
    const isOrdered = issuer.cards.stateSequence === 'issuer';
    const verify = async (signal: AbortSignal) =>
      readStateAnswer(await issuer.readState(card, signal), wanted, isOrdered);

    /** Where the issuer keeps no order, the state is read after each write; a reset reads it before, too. */
    async function submit(requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> {
      const before = !isOrdered && operation.type === 'state_reset' ? await verify(signal) : null;
      if (before && before.kind !== 'not_found') return before;
      const request = { ...wanted, clientReference, requestedAt };
      const outcome = readSubmitAnswer(await issuer.setState(request, signal));
      if (isOrdered || outcome.kind !== 'succeeded') return outcome;
      const after = await verify(signal);
      const { providerRequestId } = after;
      return after.kind === 'not_found' ? { kind: 'pending', providerRequestId } : after;
    }

    return {
      provider: issuer.name,
      resendSafety: { kind: 'idempotent', forMs: null },
      submit,
      verify,
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

/** Rejections that no repeat changes: a closed card stays closed, and a lock of the issuer is not undone by us. */
const FINAL_REJECTIONS = new Set(['card_closed', 'locked_by_issuer']);

/** The outcome of a state request. Other rejections are temporary. */
function readSubmitAnswer(answer: SetStateAnswer): ProviderOutcome {
  const { providerRequestId } = answer;
  if (answer.kind === 'set') return { ...SUCCEEDED, providerRequestId };
  if (answer.kind !== 'rejected') return answer;
  const { code } = answer;
  if (FINAL_REJECTIONS.has(code)) return { kind: 'rejected', code, providerRequestId };
  // A newer request was applied first. Verifying reads the card's state and decides.
  const overtaken = code === 'superseded' || code === 'version_conflict';
  return overtaken
    ? { kind: 'pending', providerRequestId }
    : { kind: 'rejected_temporarily', code, providerRequestId };
}

function readStateAnswer(
  answer: ReadStateAnswer,
  wanted: Pick<CardStateRequest, 'state' | 'version'>,
  isOrdered: boolean,
): ProviderOutcome {
  if (answer.kind !== 'state') return answer;
  const { providerRequestId, state, version, changedBy } = answer;
  if (!isOrdered && state === wanted.state) return { ...SUCCEEDED, providerRequestId };
  if (isOrdered && version >= wanted.version) {
    return state === wanted.state
      ? { ...SUCCEEDED, providerRequestId }
      : { kind: 'pending', providerRequestId };
  }
  if (state === 'closed' && wanted.state !== 'closed') {
    return { kind: 'rejected', code: 'card_closed', providerRequestId };
  }
  return state === 'locked' && changedBy === 'issuer' && wanted.state === 'open'
    ? { kind: 'rejected', code: 'locked_by_issuer', providerRequestId }
    : { kind: 'not_found', providerRequestId };
}

const SUCCEEDED = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;
