import { Context } from '@temporalio/activity';
import type { CardDisputes } from '../src/capabilities/card-disputes/index.js';
import { factOf } from '../src/capabilities/card-disputes/facts.js';
import type { CardDispute } from '../src/capabilities/card-disputes/record.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import type { Card } from '../src/capabilities/cards/record.js';
import type { DisputeWatchInput } from '../src/capabilities/card-disputes/workflow-contract.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import { aboutOf } from '../src/core/instructions/instruction.js';
import {
  namedBy,
  type CardIssuer,
  type FindDisputeAnswer,
} from '../src/core/providers/card-issuer.js';
import type { About } from '../src/core/providers/port.js';
import { logAttention } from '../src/core/supervision/attention-log.js';
import { logIds } from './log-ids.js';
import type { CardActivityDeps } from './cards.js';
import { sharedParts, type InstructionHandler } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of disputes need. */
export type CardDisputeActivityDeps = CardActivityDeps & {
  cardDisputes: { store: CardDisputes };
};

/** The activities that submit and withdraw disputes of card payments. Their names are in histories, so they never change. */
export function createCardDisputeActivities(deps: CardDisputeActivityDeps) {
  const { cardDisputes, providers, log } = deps;
  const activities = providerActivities(disputeHandler(deps));
  const { find } = createDisputeCalls(deps);
  return {
    /** Returns whether the dispute is open, and when its issuer is asked. Repeatable. */
    checkOpenCardDispute: (ref: DisputeWatchInput) => cardDisputes.store.checkOpen(ref),

    /** Asks the issuer what became of an open dispute, and applies what was missed. Repeatable. */
    async askAboutCardDispute({ tenantId, id }: DisputeWatchInput): Promise<void> {
      const dispute = await cardDisputes.store.get(tenantId, id);
      if (dispute?.status !== 'open') return;
      const issuer = providers.issuer(dispute.provider);
      const { kind } = await find(issuer, dispute, Context.current().cancellationSignal);
      const reason = await cardDisputes.store.noteQuestion(dispute, kind === 'dispute');
      if (reason !== null) logAttention(log, { ...logIds({ tenantId, id }), reason });
    },

    submitCardDispute: activities.submit,
    submitCardDisputeLocally: activities.submitLocally,
    verifyCardDispute: activities.verify,
    applyCardDisputeOutcome: activities.applyOutcome,
  };
}

/** Creates the part that calls issuers about disputes. */
function createDisputeCalls({
  cardDisputes,
  cards: { operations },
}: Pick<CardDisputeActivityDeps, 'cardDisputes' | 'cards'>) {
  /** The operation that has submitted a dispute names it at the issuer. */
  async function aboutDispute({ tenant_id: tenantId, operation_id: reference }: CardDispute) {
    const operation = await operations.get(tenantId, reference);
    return operation ? aboutOf(operation) : { reference, handle: null };
  }

  /** Commits the reports of the issuer here, because the workflow decides only by the outcome of its operation. */
  async function find(
    issuer: CardIssuer,
    dispute: CardDispute,
    signal: AbortSignal,
  ): Promise<FindDisputeAnswer> {
    if (!issuer.findDispute) throw new Error(`${issuer.name} has no disputes`);
    const found = await issuer.findDispute(await aboutDispute(dispute), signal);
    if (found.kind !== 'dispute') return found;
    const { providerRequestId, reports } = found;
    const facts = reports.map(({ state, at }) => factOf(state, at));
    const source = { via: 'poll', actor: null, providerRequestId, note: null } as const;
    await cardDisputes.store.applyFacts(dispute, { source, facts });
    return found;
  }

  /** A repeated withdrawal changes nothing, so "not found" allows it. */
  const withdrawalCalls = (issuer: CardIssuer, dispute: CardDispute, about: About) => ({
    provider: issuer.name,
    resendSafety: { kind: 'idempotent', forMs: null } as const,
    async submit(_requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> {
      if (!issuer.withdrawDispute) throw new Error(`${issuer.name} withdraws no disputes`);
      const answer = await issuer.withdrawDispute(about, signal);
      const { providerRequestId } = answer;
      if (answer.kind === 'withdrawn') return { ...SUCCEEDED, providerRequestId };
      // The decision moves money, and its report may be lost. Without it, the workflow asks again.
      const isDecided = answer.kind === 'rejected' && answer.code === 'already_decided';
      const found = isDecided ? await find(issuer, dispute, signal) : null;
      return found?.kind === 'unknown' ? found : answer;
    },
    verify: async (signal: AbortSignal) => withdrawalOutcome(await find(issuer, dispute, signal)),
  });

  const submissionCalls = (
    issuer: CardIssuer,
    operation: CardOperation,
    { dispute, card }: { dispute: CardDispute; card: Card | null },
  ) => ({
    provider: issuer.name,
    resendSafety: issuer.cards.resendSafety,
    async submit(requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> {
      if (!card?.issued || !issuer.submitDispute) {
        throw new Error(`${dispute._id} can not be submitted`);
      }
      const { _id: reference, transaction_reference: theirs } = operation;
      const request = {
        reference,
        clientReference: theirs ?? reference,
        card: card.issued.issuer_card_id,
        token: dispute.token,
        amountMinor: dispute.amount_minor,
        currency: dispute.currency,
        reason: dispute.reason,
        explanation: dispute.explanation ?? '-',
        requestedAt,
      };
      const answer = await issuer.submitDispute(request, signal);
      const { providerRequestId } = answer;
      return answer.kind === 'submitted'
        ? { ...SUCCEEDED, providerRequestId, ...namedBy(answer) }
        : answer;
    },
    verify: async (signal: AbortSignal) => submissionOutcome(await find(issuer, dispute, signal)),
  });

  return { aboutDispute, find, submissionCalls, withdrawalCalls };
}

function disputeHandler(deps: CardDisputeActivityDeps): InstructionHandler<CardOperation> {
  const { cardDisputes, providers } = deps;
  const { operations } = deps.cards;
  const { aboutDispute, submissionCalls, withdrawalCalls } = createDisputeCalls(deps);

  async function disputeOf({ _id, tenant_id: tenantId, dispute_id: id }: CardOperation) {
    const dispute = id === undefined ? null : await cardDisputes.store.get(tenantId, id);
    if (!dispute) throw new Error(`${_id} has no dispute`);
    return dispute;
  }

  return {
    name: 'card operation',
    records: operations,
    ...sharedParts(deps),
    capability: 'cards',

    async providerCallsFor(operation) {
      const issuer = providers.issuer(operation.provider);
      const dispute = await disputeOf(operation);
      if (operation.type !== 'dispute') {
        return withdrawalCalls(issuer, dispute, await aboutDispute(dispute));
      }
      const card = await deps.cards.store.get(dispute.tenant_id, dispute.card_id);
      return submissionCalls(issuer, operation, { dispute, card });
    },

    async apply({ tenantId, id }, report, source: FactSource) {
      const operation = await operations.get(tenantId, id);
      if (!operation) return null;
      const fact = toFact(report, source);
      const given = { source, facts: [], operation: id, fact };
      return (await cardDisputes.store.applyFacts(await disputeOf(operation), given)).operation;
    },
  };
}

const SUCCEEDED = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;

/** The outcome of a submission. A dispute without a report is known to the issuer, and not accepted yet. */
function submissionOutcome(answer: FindDisputeAnswer): ProviderOutcome {
  if (answer.kind !== 'dispute') return answer;
  const { providerRequestId, reports } = answer;
  const states = reports.map(({ state }) => state);
  if (states.some(({ kind }) => kind !== 'rejected')) return { ...SUCCEEDED, providerRequestId };
  const [refused] = states;
  return refused?.kind === 'rejected'
    ? { kind: 'rejected', code: refused.code, providerRequestId }
    : { kind: 'pending', providerRequestId };
}

/** The outcome of a withdrawal. While the dispute goes on, the issuer has not withdrawn it. */
function withdrawalOutcome(answer: FindDisputeAnswer): ProviderOutcome {
  if (answer.kind !== 'dispute') return answer;
  const { providerRequestId, reports } = answer;
  const kinds = new Set(reports.map(({ state }) => state.kind));
  if (kinds.has('withdrawn')) return { ...SUCCEEDED, providerRequestId };
  return kinds.has('won') || kinds.has('lost')
    ? { kind: 'rejected', code: 'already_decided', providerRequestId }
    : { kind: 'not_found', providerRequestId };
}
