import { aboutFunding } from '../src/capabilities/card-fundings/provider-calls.js';
import {
  commitFundingFact,
  commitFundingExpiry,
} from '../src/capabilities/card-fundings/mutations.js';
import { fundReversalIdOf } from '../src/capabilities/card-fundings/transitions.js';
import type { FundingFact } from '../src/capabilities/card-fundings/transitions.js';
import type { ExpireCardFundingResult } from '../src/capabilities/card-fundings/workflow-contract.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import { failpoint } from '../src/shared/failpoints.js';
import { asPaymentAnswer, type CardIssuer } from '../src/core/providers/card-issuer.js';
import type { ResendSafety, VerifyAnswer } from '../src/core/providers/transfer-provider.js';
import { aboutOf, isOpen } from '../src/core/instructions/instruction.js';
import type { About } from '../src/core/providers/port.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import {
  idempotentAbsenceMs,
  type FactResult,
  type RecordRef,
} from '../src/core/instructions/workflow-contract.js';
import type { CardActivityDeps } from './cards.js';
import {
  load,
  sharedParts,
  type InstructionHandler,
  type ProviderCalls,
} from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { toFact } from './provider-result.js';

/** The activities of card fundings and of fund reversals. Their names are in histories, so they never change. */
export function createCardFundingActivities(deps: CardActivityDeps) {
  const fundings = fundingHandler(deps);
  const activities = providerActivities(fundings);
  return {
    submitCardFunding: activities.submit,
    submitCardFundingLocally: activities.submitLocally,
    verifyCardFunding: activities.verify,
    applyCardFundingOutcome: activities.applyOutcome,

    /** Fails a just-in-time funding whose deadline has passed, if it is still open. Repeatable. */
    async expireCardFunding(ref: RecordRef): Promise<ExpireCardFundingResult> {
      const operation = await load(fundings, ref);
      await commitFundingExpiry(deps.groupCommit, operation);
      const reversal = await deps.cards.operations.get(ref.tenantId, fundReversalIdOf(ref.id));
      const closed = !isOpen(await load(fundings, ref));
      return { closed, fundReversalId: reversal?._id ?? null };
    },
  };
}

function fundingHandler(deps: CardActivityDeps): InstructionHandler<CardOperation> {
  const { groupCommit, providers } = deps;
  const { operations } = deps.cards;
  return {
    name: 'card operation',
    // The attention of a late funding belongs to the workflow of its fund reversal.
    records: {
      ...operations,
      get: async (...ref) => withoutReversalAttention(await operations.get(...ref)),
    },
    ...sharedParts(deps),
    capability: 'cards',

    async providerCallsFor(operation) {
      const issuer = providers.issuer(operation.provider);
      const { resendSafety, balances } = issuer.cards;
      if (balances === 'ours') return { ...ownBalance(operation), provider: issuer.name };
      return operation.reverses_operation_id === null
        ? { ...(await fundingCalls(deps, issuer, operation)), resendSafety }
        : {
            ...fundReversalCalls(operations, issuer, {
              operation,
              about: await aboutFunding(operations, operation),
            }),
            resendSafety: withoutResend(resendSafety),
          };
    },

    async apply({ tenantId, id }, report, origin) {
      const operation = await operations.get(tenantId, id);
      if (!operation) return null;
      await commitFundingFact(groupCommit, operation, asFact(operation, report, origin));
      return withoutReversalAttention(await operations.get(tenantId, id));
    },
  };
}

/** A funding that missed its deadline, without the attention that its fund reversal has set on it. */
function withoutReversalAttention(operation: CardOperation | null): CardOperation | null {
  const late =
    operation?.failure?.code === 'deadline_exceeded' && operation.reverses_operation_id === null;
  return late ? { ...operation, attention: null } : operation;
}

/** An issuer that holds no balances is not asked: the money is on the card when it is booked here. */
function ownBalance({ reverses_operation_id: reverses, amount_minor: amountMinor }: CardOperation) {
  const done = {
    kind: reverses === null ? ('succeeded' as const) : ('reversed' as const),
    amountMinor,
    sessionId: null,
    providerRequestId: null,
  };
  const answer = () => Promise.resolve(done);
  return {
    resendSafety: { kind: 'idempotent', forMs: null } as const,
    submit: answer,
    verify: answer,
  };
}

async function fundingCalls(
  { cards: { store: cards } }: CardActivityDeps,
  issuer: CardIssuer,
  operation: CardOperation,
): Promise<Omit<ProviderCalls, 'resendSafety'>> {
  const {
    _id: reference,
    tenant_id: tenantId,
    card_id: id,
    amount_minor: amountMinor,
    currency,
  } = operation;
  const card = await cards.get(tenantId, id);
  return {
    provider: issuer.name,
    notAfter: operation.deadline_at,
    async submit(requestedAt, signal) {
      if (!card?.issued || amountMinor === null) throw new Error(`${id} can not be funded`);
      const request = {
        reference,
        clientReference: operation.transaction_reference ?? reference,
        card: card.issued.issuer_card_id,
        amountMinor,
        currency,
        requestedAt,
      };
      return asPaymentAnswer(await issuer.fund(request, signal));
    },
    verify: async (signal) => asPaymentAnswer(await issuer.findFunding(aboutOf(operation), signal)),
  };
}

/**
 * Calls of a fund reversal. While it is open, verifying also requests the reversal of a funding that is on the card or
 * may still arrive; that request is repeatable. After its end verifying only reads. Once a funding was found, "not found" is an
 * answer of a copy that lags: it proves nothing, now or later.
 */
function fundReversalCalls(
  operations: CardActivityDeps['cards']['operations'],
  issuer: CardIssuer,
  { operation, about }: { operation: CardOperation; about: About },
) {
  const { _id: id, tenant_id: tenantId } = operation;
  async function verify(signal: AbortSignal): Promise<VerifyAnswer> {
    const found = await issuer.findFunding(about, signal);
    const { kind } = found;
    const there = kind === 'funded' || kind === 'pending';
    if (!there || !isOpen(operation)) return asPaymentAnswer(found);
    if (operation.acknowledged_at === null) await operations.acknowledge(tenantId, id);
    failpoint('fund_reversal.before');
    const answer = await issuer.reverseFunding(about, signal);
    failpoint('fund_reversal.answered');
    const { providerRequestId } = answer;
    switch (answer.kind) {
      case 'reversed':
        return { ...answer, amountMinor: null, sessionId: null };
      case 'rejected':
        return asPaymentAnswer(found);
      case 'throttled':
        return { kind: 'unknown', reason: 'throttled', providerRequestId };
      case 'not_found':
        return { kind: 'unknown', reason: 'mismatch', providerRequestId };
      default:
        return answer;
    }
  }
  const submit = () => Promise.reject(new Error('a fund reversal submits nothing'));
  return { provider: issuer.name, submit, verify };
}

/** A funding is not submitted again after its deadline, so its reversal needs proof that it will not be executed. */
const withoutResend = (resendSafety: ResendSafety): ResendSafety =>
  resendSafety.kind === 'idempotent'
    ? { kind: 'conclusive_after', ms: idempotentAbsenceMs(resendSafety) }
    : resendSafety;

/** The fact of a result. A fund reversal that finds the funding still on the card cannot be done. */
function asFact(
  { reverses_operation_id: reversedId }: CardOperation,
  report: FactResult,
  origin: FactSource,
): FundingFact {
  const fact = toFact(report, origin);
  return reversedId !== null && fact.kind === 'succeeded'
    ? { ...fact, kind: 'not_reversible' }
    : fact;
}
