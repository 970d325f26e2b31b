import {
  acceptOnce,
  refuseTakenReference,
  keysOf,
  successResponse,
  type AcceptResult,
  type Claim,
} from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import { instructionState, isOpen, timelineEntry } from '../../core/instructions/instruction.js';
import {
  applyChange,
  raiseAttention,
  type Change,
  type Verdict,
} from '../../core/instructions/transition.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { AuthorizationTerms } from '../card-authorizations/mutations.js';
import {
  cardAuthorizations,
  disputableOf,
  type CardAuthorization,
} from '../card-authorizations/record.js';
import {
  cardOperations,
  newOperation,
  referenceOf,
  type CardOperation,
} from '../cards/card-operation.js';
import { changeOperation } from '../cards/mutations.js';
import { cards } from '../cards/record.js';
import { isRefusalOfIssuer, OUR_PROOF, type CardDisputeFact } from './facts.js';
import { bookDispute, withDisputed } from './postings.js';
import { presentCardDispute } from './presenter.js';
import { cardDisputes, returnableOf, type CardDispute } from './record.js';
import {
  newFacts,
  transitionCardDispute,
  transitionDisputeOperation,
  type DisputeTransition,
} from './transitions.js';
import { withCardDisputeEvent } from './webhook-events.js';

/** The input of `acceptCardDispute`. */
type AcceptCardDispute = {
  tenantId: string;
  /** Dispute and operation are built with their ids before the commit, so that a repeated commit finds them. */
  dispute: Omit<CardDispute, 'amount_minor'>;
  operation: CardOperation;
  /** Null disputes all that is left of the payment. */
  amountMinor: bigint | null;
  claim: Claim | null;
};
/** The input of `cancelCardDispute`. */
type CancelCardDispute = { tenantId: string; id: string };

/** The result of `cancelCardDispute`: the dispute after the commit; null if there is none. */
type CancelCardDisputeResult = { dispute: CardDispute | null; refused: boolean };

/** Accepts a dispute once: record, operation, the count of its payment and the response in one commit. */
export const acceptCardDispute: Mutation<AcceptCardDispute, AcceptResult> = {
  reads: ({ dispute, operation, claim }, full) => ({
    keys: keysOf(claim),
    references: operation.transaction_reference === null ? [] : [referenceOf(operation)],
    records: [
      cardAuthorizations.ref(dispute.authorization_id),
      ...(full ? [cardDisputes.ref(dispute._id)] : []),
    ],
  }),
  decide: (uow, input, now) =>
    acceptOnce(uow, input, now, {
      collection: cardDisputes,
      id: input.dispute._id,
      response: (dispute) => successResponse(presentCardDispute(dispute)),
      admit: () => admit(uow, input, now),
    }),
};

/**
 * Asks the issuer to withdraw an open dispute. A repeat changes nothing while the issuer is asked; after its refusal it asks
 * again. Any other state refuses it.
 */
export const cancelCardDispute: Mutation<CancelCardDispute, CancelCardDisputeResult> = {
  reads: ({ id }) => ({ records: [cardDisputes.ref(id)] }),
  decide(uow, { tenantId, id }, now) {
    const dispute = uow.get(cardDisputes, id);
    if (dispute?.tenant_id !== tenantId) return { dispute: null, refused: false };
    const { status, cancellation } = dispute;
    if (status === 'cancelled' || cancellation === 'requested') return { dispute, refused: false };
    if (status !== 'open') return { dispute, refused: true };
    const { card_id, provider } = dispute;
    const about = { tenant_id: tenantId, card_id, provider, dispute_id: id };
    const operation = newOperation(
      { ...about, type: 'dispute_withdrawal' },
      now,
      'the issuer is asked to withdraw the dispute',
    );
    uow.create(cardOperations, operation);
    const next: CardDispute = {
      ...dispute,
      cancellation: 'requested',
      withdrawal_id: operation._id,
      version: dispute.version + 1,
      updated_at: now,
    };
    uow.change(cardDisputes, next);
    return { dispute: next, refused: false };
  },
};

function admit(
  uow: UnitOfWork,
  { dispute: given, operation, amountMinor }: AcceptCardDispute,
  now: Date,
): CardDispute | ApiError {
  const authorization = uow.get(cardAuthorizations, given.authorization_id);
  if (authorization?.tenant_id !== given.tenant_id) return new ApiError('not_found');
  const leftMinor = disputableOf(authorization);
  const dispute = { ...given, amount_minor: amountMinor ?? leftMinor };
  const refusal =
    refuseAmount(authorization, dispute.amount_minor, leftMinor) ?? refuseReference(uow, operation);
  if (refusal) return refusal;
  uow.create(cardDisputes, dispute);
  uow.create(cardOperations, operation);
  if (operation.transaction_reference !== null) {
    uow.takeReference(referenceOf(operation), operation._id);
  }
  const { amount_minor: minor } = dispute;
  uow.change(cardAuthorizations, {
    ...withDisputed(authorization, {
      disputedMinor: minor,
      returnableMinor: returnableOf(dispute),
    }),
    version: authorization.version + 1,
    updated_at: now,
  });
  return dispute;
}

const refuseReference = (uow: UnitOfWork, operation: CardOperation) =>
  operation.transaction_reference === null
    ? null
    : refuseTakenReference(uow, referenceOf(operation), 'transaction_reference');

function refuseAmount(
  { status }: CardAuthorization,
  amountMinor: bigint,
  leftMinor: bigint,
): ApiError | null {
  if (leftMinor > 0n && amountMinor <= leftMinor) return null;
  const details = { status, disputable_minor: toWireAmount(leftMinor) };
  if (leftMinor === 0n) {
    const message = 'Nothing of the payment is left to dispute.';
    return new ApiError('invalid_state', { message, details });
  }
  const message = 'The amount is more than what is left of the payment to dispute.';
  return new ApiError('invalid_state', { field: 'amount_minor', message, details });
}

/** The input of `applyCardDisputeFacts`. */
export type ApplyCardDisputeFacts = {
  tenantId: string;
  /** The id of the dispute. */
  id: string;
  source: FactSource;
  /** Reports of the issuer about the dispute itself. */
  facts: CardDisputeFact[];
  /** The id of one of its operations, and the outcome of that one. */
  operation?: string;
  fact?: InstructionFact;
  terms: AuthorizationTerms;
};
/** The result of `applyCardDisputeFacts`: the operation that the input names, as it is after the commit. */
export type ApplyCardDisputeFactsResult = {
  verdict: Verdict;
  operation: CardOperation | null;
  /** The operation that withdraws the dispute, if there is one. */
  withdrawal: CardOperation | null;
};

/** Applies facts about a dispute and its operations. Repeats and facts out of order are safe. */
export const applyCardDisputeFacts: Mutation<ApplyCardDisputeFacts, ApplyCardDisputeFactsResult> = {
  reads: ({ tenantId, id }) => ({
    records: [cardDisputes.ref(id)],
    wallets: [tenantId],
    further: (found) => recordsOf(found.get(cardDisputes, id)),
  }),
  decide: decideFacts,
  audited: (uow, { operation }) =>
    instructionState(operation === undefined ? undefined : uow.get(cardOperations, operation)),
};

const recordsOf = (dispute: CardDispute | undefined) =>
  dispute
    ? [
        cardAuthorizations.ref(dispute.authorization_id),
        cards.ref(dispute.card_id),
        ...operationsOf(dispute).map((id) => cardOperations.ref(id)),
      ]
    : [];

const operationsOf = ({ operation_id: submission, withdrawal_id: withdrawal }: CardDispute) =>
  withdrawal === null ? [submission] : [submission, withdrawal];

function decideFacts(
  uow: UnitOfWork,
  input: ApplyCardDisputeFacts,
  now: Date,
): ApplyCardDisputeFactsResult {
  const { tenantId, id, source, facts, terms } = input;
  const dispute = uow.get(cardDisputes, id);
  if (dispute?.tenant_id !== tenantId)
    return { verdict: 'stale', operation: null, withdrawal: null };
  const ended = decideOutcome(uow, dispute, input, now);
  const transition = transitionCardDispute(dispute, [...facts, ...ended.proofs], now);
  const next = ended.isRefusedWithdrawal
    ? withRefusal(dispute, transition.next, now)
    : transition.next;
  if (next !== dispute) changeDispute(uow, dispute, next);
  bookDispute(uow, next, { ...transition, terms }, now);
  const reported = newFacts(dispute, facts);
  noteReports(uow, next, reported, source, now);
  // Only a report of the issuer proves an outcome: an end by an operator does not.
  if (reported.length > 0) endOperations(uow, next, source, now);
  noteProblem(uow, next, { ...transition, source }, now);
  const operation =
    input.operation === undefined ? undefined : uow.get(cardOperations, input.operation);
  const verdict = ended.verdict ?? (reported.length > 0 ? 'applied' : 'unchanged');
  const withdrawal =
    next.withdrawal_id === null ? null : uow.get(cardOperations, next.withdrawal_id);
  return {
    verdict: transition.problem === null ? verdict : 'attention',
    operation: operation ?? null,
    withdrawal: withdrawal ?? null,
  };
}

/** The issuer does not withdraw the dispute, which goes on. */
const withRefusal = (before: CardDispute, after: CardDispute, now: Date): CardDispute => ({
  ...after,
  cancellation: 'refused',
  version: before.version + 1,
  updated_at: now,
});

/** The effect of an operation's outcome. `proofs`: what it proves about the dispute. */
type OutcomeEffect = {
  /** Null if the input names no operation. */
  verdict: Verdict | null;
  proofs: CardDisputeFact[];
  isRefusedWithdrawal: boolean;
};

function decideOutcome(
  uow: UnitOfWork,
  dispute: CardDispute,
  { operation: id, fact }: ApplyCardDisputeFacts,
  now: Date,
): OutcomeEffect {
  const nothing = { proofs: [], isRefusedWithdrawal: false };
  if (id === undefined || fact === undefined) return { verdict: null, ...nothing };
  const operation = uow.get(cardOperations, id);
  if (operation?.dispute_id !== dispute._id) return { verdict: 'stale', ...nothing };
  const { verdict, next } = transitionDisputeOperation(operation, fact, now);
  if (next === operation) return { verdict, ...nothing };
  changeOperation(uow, operation, next);
  if (next.status === operation.status) return { verdict, ...nothing };
  const isDone = next.status === 'completed';
  if (operation.type === 'dispute_withdrawal' && !isDone) {
    return { verdict, proofs: [], isRefusedWithdrawal: dispute.cancellation === 'requested' };
  }
  const done = operation.type === 'dispute_withdrawal' ? 'withdrawn' : 'submitted';
  const kind = isDone ? done : 'refused';
  const code = next.failure?.code ?? null;
  const proof = { key: `${OUR_PROOF}${kind}`, kind, amount_minor: 0n, code, at: now } as const;
  return { verdict, ...nothing, proofs: [proof] };
}

/** Ends the operations whose outcome is proven by what the issuer reports about the dispute. */
function endOperations(
  uow: UnitOfWork,
  dispute: CardDispute,
  { via, actor, providerRequestId }: FactSource,
  now: Date,
): void {
  const { status } = dispute;
  const source = { via, actor, providerRequestId, note: null };
  const succeeded = { ...source, kind: 'succeeded', amountMinor: null, sessionId: null } as const;
  const rejected = (code: string) => ({ ...source, kind: 'rejected', code }) as const;
  const submission = uow.get(cardOperations, dispute.operation_id);
  if (submission && submission.status !== 'completed' && status !== 'pending') {
    const refusal = dispute.facts.find(isRefusalOfIssuer);
    if (status !== 'failed') end(uow, submission, succeeded, now);
    else if (refusal) end(uow, submission, rejected(refusal.code ?? 'provider_declined'), now);
  }
  const withdrawal = dispute.withdrawal_id && uow.get(cardOperations, dispute.withdrawal_id);
  if (!withdrawal || withdrawal.status === 'completed') return;
  if (status === 'cancelled') end(uow, withdrawal, succeeded, now);
  else if (status !== 'open' && isOpen(withdrawal)) {
    end(uow, withdrawal, rejected('already_decided'), now);
  }
}

function end(uow: UnitOfWork, operation: CardOperation, fact: InstructionFact, now: Date): void {
  const { next } = transitionDisputeOperation(operation, fact, now);
  if (next !== operation) changeOperation(uow, operation, next);
}

/** Writes the issuer's reports on the timeline of the operation that submitted the dispute. */
function noteReports(
  uow: UnitOfWork,
  { operation_id: id }: CardDispute,
  facts: readonly CardDisputeFact[],
  { via, actor, providerRequestId }: FactSource,
  now: Date,
): void {
  const operation = uow.get(cardOperations, id);
  if (!operation || facts.length === 0) return;
  const entries = facts.map(({ kind, amount_minor: amount }) =>
    timelineEntry(now, via, actor ?? operation.provider, {
      detail: amount === 0n ? kind : `${kind}: ${amount}`,
      providerRequestId,
    }),
  );
  changeOperation(uow, operation, {
    ...operation,
    version: operation.version + 1,
    acknowledged_at: operation.acknowledged_at ?? now,
    timeline: [...operation.timeline, ...entries],
    updated_at: now,
  });
}

/** Calls an operator, by the operation that submitted the dispute, or ends the call if its reason no longer holds. */
function noteProblem(
  uow: UnitOfWork,
  { operation_id: id }: CardDispute,
  {
    problem,
    resolved,
    source,
  }: Pick<DisputeTransition, 'problem' | 'resolved'> & { source: FactSource },
  now: Date,
): void {
  const operation = uow.get(cardOperations, id);
  if (!operation) return;
  const change: Change<CardOperation> | 'unchanged' =
    problem === null
      ? clearAttention(operation, resolved)
      : raiseAttention(operation, now, problem);
  if (change === 'unchanged') return;
  const next = applyChange(operation, { ...source, kind: 'note' }, 'reported', change, now);
  changeOperation(uow, operation, next);
}

const clearAttention = (
  { attention }: CardOperation,
  resolved: string | null,
): Change<CardOperation> | 'unchanged' =>
  resolved === null || attention?.reason !== resolved
    ? 'unchanged'
    : {
        set: { attention: null },
        entry: ['attention_cleared', 'a later report of the issuer has resolved it'],
      };

/** Writes a dispute after a change, and emits its event. */
function changeDispute(uow: UnitOfWork, before: CardDispute, after: CardDispute): void {
  const { next, event } = withCardDisputeEvent(before, after);
  uow.change(cardDisputes, next);
  uow.emit(event);
}
