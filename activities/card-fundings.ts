import {
  commitFundingFact,
  commitFundingExpiry,
} from '../src/capabilities/card-fundings/mutations.js';
import { fundReversalIdOf } from '../src/capabilities/card-fundings/deadline.js';
import type { FundingFact } from '../src/capabilities/card-fundings/transitions.js';
import type { ExpireFundingResult } from '../src/capabilities/card-fundings/workflow-contract.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import { failpoint } from '../src/shared/failpoints.js';
import type {
  CardIssuer,
  FindFundingAnswer,
  FundAnswer,
} from '../src/core/providers/card-issuer.js';
import type { Absence, VerifyAnswer } from '../src/core/providers/transfer-provider.js';
import { isOpen } from '../src/core/instructions/instruction.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import type { FactResult, RecordRef } from '../src/core/instructions/workflow-contract.js';
import type { CardActivityDeps } from './card-operations.js';
import {
  load,
  instructionActivities,
  type ProviderCalls,
  type InstructionHandler,
} from './instructions.js';
import { toFact } from './provider-result.js';

/**
 * An issuer that de-duplicates has no time after which an order can't come any more. Ours was given up when its
 * connection was closed: one that has not been read by then, and so long after, is not lying in any socket.
 */
const UNREAD_MS = 5_000;

/** The activities of fundings and of what unwinds them. Names are in histories; what they do is in instructions.ts. */
export function createCardFundingActivities(deps: CardActivityDeps) {
  const fundings = fundingHandler(deps);
  const activities = instructionActivities(fundings);
  return {
    submitCardFunding: activities.submit,
    submitCardFundingLocally: activities.submitLocally,
    verifyCardFunding: activities.verify,
    applyCardFundingOutcome: activities.applyOutcome,

    /** Has the deadline of a just-in-time funding come? Then it ends here, if nobody has ended it yet. */
    async expireCardFunding(ref: RecordRef): Promise<ExpireFundingResult> {
      const operation = await load(fundings, ref);
      await commitFundingExpiry(deps.groupCommit, operation);
      const unwinding = await deps.cardOperations.get(ref.tenantId, fundReversalIdOf(ref.id));
      const over = !isOpen(await load(fundings, ref));
      return { over, fundReversal: unwinding?._id ?? null };
    },
  };
}

/** How issuers are told of fundings, and asked, and what they say is settled. */
function fundingHandler(deps: CardActivityDeps): InstructionHandler<CardOperation> {
  const { cardOperations, groupCommit, providers, localSubmissions, log } = deps;
  return {
    name: 'card operation',
    // What an operator has to see of a late funding is the matter of what unwinds it.
    records: {
      ...cardOperations,
      get: async (...ref) => withoutReversalAttention(await cardOperations.get(...ref)),
    },
    log,
    localSubmissions,

    providerCallsFor(operation) {
      const issuer = providers.issuer(operation.provider);
      const { absence: resendSafety } = issuer.cards;
      return operation.reverses_operation_id === null
        ? { ...fundingCalls(deps, issuer, operation), resendSafety }
        : { ...fundReversalCalls(issuer, operation), resendSafety: unread(resendSafety) };
    },

    async apply({ tenantId, id }, report, origin) {
      const operation = await cardOperations.get(tenantId, id);
      if (!operation) return null;
      await commitFundingFact(groupCommit, operation, asFact(operation, report, origin));
      return withoutReversalAttention(await cardOperations.get(tenantId, id));
    },
  };
}

/** A late funding without the attention that its unwinding lends it, for whoever reads its record. */
function withoutReversalAttention(operation: CardOperation | null): CardOperation | null {
  const late =
    operation?.failure?.code === 'deadline_exceeded' && operation.reverses_operation_id === null;
  return late ? { ...operation, attention: null } : operation;
}

function fundingCalls(
  { cards }: CardActivityDeps,
  issuer: CardIssuer,
  operation: CardOperation,
): Omit<ProviderCalls, 'resendSafety'> {
  const {
    _id: reference,
    tenant_id: tenantId,
    card_id: id,
    amount_minor: amountMinor,
    currency,
  } = operation;
  return {
    provider: issuer.name,
    notAfter: operation.deadline_at,
    async submit(requestedAt, signal) {
      const card = await cards.get(tenantId, id);
      if (!card?.issued || amountMinor === null) throw new Error(`${id} can not be funded`);
      const request = {
        reference,
        clientReference: operation.transaction_reference ?? reference,
        card: card.issued.issuer_card_id,
        amountMinor,
        currency,
        requestedAt,
      };
      return asSuccess(await issuer.fund(request, signal));
    },
    verify: async (signal) => asSuccess(await issuer.findFunding(reference, signal)),
  };
}

/**
 * What is on the card, or may still come onto it, is asked back; that may be repeated. What has ended is only asked
 * about.
 */
function fundReversalCalls(issuer: CardIssuer, operation: CardOperation) {
  const reference = operation.reverses_operation_id ?? operation._id;
  async function verify(signal: AbortSignal): Promise<VerifyAnswer> {
    const found = await issuer.findFunding(reference, signal);
    const { kind } = found;
    const there = kind === 'funded' || kind === 'pending';
    if (!there || !isOpen(operation)) return asSuccess(found);
    failpoint('fund_reversal.before');
    const answer = await issuer.reverseFunding(reference, signal);
    failpoint('fund_reversal.answered');
    const { providerRequestId } = answer;
    switch (answer.kind) {
      case 'reversed':
        return { ...answer, amountMinor: null, sessionId: null };
      case 'rejected':
        return asSuccess(found);
      case 'throttled':
        return { kind: 'unknown', reason: 'throttled', providerRequestId };
      default:
        return answer;
    }
  }
  const submit = () => Promise.reject(new Error('a fund reversal submits nothing'));
  return { provider: issuer.name, submit, verify };
}

const unread = (absence: Absence): Absence =>
  absence.kind === 'idempotent' ? { kind: 'conclusive_after', ms: UNREAD_MS } : absence;

/** What is funded is, in the words of all that is pursued, paid. */
function asSuccess<Other extends FundAnswer | FindFundingAnswer>(answer: Other) {
  type Kept = Exclude<Other, { kind: 'funded' | 'reversed' }>;
  const { kind } = answer;
  if (kind !== 'funded' && kind !== 'reversed') return answer as Kept;
  const { amountMinor, providerRequestId } = answer;
  const payment = { amountMinor, sessionId: null, providerRequestId };
  return { ...payment, kind: kind === 'funded' ? ('succeeded' as const) : ('reversed' as const) };
}

/** Of an unwinding: still on the card although it was asked back means that it stays there. */
function asFact(
  { reverses_operation_id: unwinds }: CardOperation,
  report: FactResult,
  origin: FactSource,
): FundingFact {
  const fact = toFact(report, origin);
  return unwinds !== null && fact.kind === 'succeeded' ? { ...fact, kind: 'not_reversible' } : fact;
}
