import type { InstructionFact } from '../../core/instructions/fact.js';
import {
  applyChange,
  labelOf,
  monitoredUntil,
  rejectionAfterEnd,
  type Change,
  type Verdict,
} from '../../core/instructions/transition.js';
import { DAY_MS } from '../../shared/durations.js';
import { operationFailure, type CardOperation } from '../cards/card-operation.js';
import { balanceAfter, type CardDisputeFact, type DisputeBalance } from './facts.js';
import { returnableOf, isCounted, type CardDispute } from './record.js';

/** The effect of facts on a dispute. `unchanged`: all of them are known. */
export type DisputeTransition = {
  next: CardDispute;
  /** The change of what the issuer has given; negative: it takes that much back. */
  creditedMinor: bigint;
  /** The change of what the payment counts as disputed. */
  disputedMinor: bigint;
  /** The change of what it counts as returnable. */
  returnableMinor: bigint;
  /** The reason for an operator's attention. */
  problem: string | null;
  /** The reason that no longer holds, because its facts had arrived out of order. */
  resolved: string | null;
};

/** The state machine of disputes. Facts may arrive in any order and any number; see `balanceAfter`. */
export function transitionCardDispute(
  dispute: CardDispute,
  arrived: readonly CardDisputeFact[],
  now: Date,
): DisputeTransition {
  const facts = [...dispute.facts, ...newFacts(dispute, arrived)];
  if (facts.length === dispute.facts.length) {
    return { ...UNCHANGED, next: dispute };
  }
  const balance = balanceAfter(facts);
  const { status, creditedMinor, code } = balance;
  const problem = problemOf(dispute, balance);
  const isDecided = status !== 'pending' && status !== 'open';
  const next: CardDispute = {
    ...dispute,
    status,
    facts,
    credited_minor: creditedMinor,
    cancellation: cancellationAfter(dispute, status),
    failure: status === 'failed' ? operationFailure(code ?? 'provider_declined') : null,
    decided_at: isDecided ? (dispute.decided_at ?? now) : null,
    ...watchAfter(dispute, status, now),
    version: dispute.version + 1,
    updated_at: now,
  };
  return {
    next,
    creditedMinor: creditedMinor - dispute.credited_minor,
    disputedMinor: countedIn(next) - countedIn(dispute),
    returnableMinor: returnableOf(next) - returnableOf(dispute),
    problem,
    resolved: problem === null ? problemOf(dispute, balanceAfter(dispute.facts)) : null,
  };
}

const UNCHANGED = {
  creditedMinor: 0n,
  disputedMinor: 0n,
  returnableMinor: 0n,
  problem: null,
  resolved: null,
} as const;

const problemOf = (
  { amount_minor: amount }: CardDispute,
  { problem, creditedMinor }: DisputeBalance,
): string | null =>
  problem ?? (creditedMinor > amount ? 'the issuer has given more than was disputed' : null);

/**
 * An open dispute is decided by the issuer alone, whose report may be lost: it is asked daily. Nothing is to be done before
 * the first question, so the dispatcher starts the workflow then.
 */
function watchAfter(
  { verify_at: at, next_check_at: check, attention, silent_since: silentSince }: CardDispute,
  status: CardDispute['status'],
  now: Date,
): Pick<CardDispute, 'verify_at' | 'next_check_at' | 'attention' | 'silent_since'> {
  if (status !== 'open') {
    return { verify_at: null, next_check_at: null, attention: null, silent_since: null };
  }
  const first = new Date(now.getTime() + DAY_MS);
  return {
    verify_at: at ?? first,
    next_check_at: check ?? at ?? first,
    attention,
    silent_since: silentSince,
  };
}

/** The end of the dispute answers a wish to cancel it, also one that the issuer has not answered. */
function cancellationAfter(
  { cancellation }: CardDispute,
  status: CardDispute['status'],
): CardDispute['cancellation'] {
  if (status === 'cancelled') return null;
  const isDecided = status === 'won' || status === 'lost';
  return isDecided && cancellation === 'requested' ? 'refused' : cancellation;
}

const countedIn = (dispute: CardDispute): bigint =>
  isCounted(dispute) ? dispute.amount_minor : 0n;

/** Those of the facts that are not known, each once. */
export function newFacts(
  { facts }: Pick<CardDispute, 'facts'>,
  arrived: readonly CardDisputeFact[],
): CardDisputeFact[] {
  const known = new Set(facts.map(({ key }) => key));
  return arrived.filter(({ key }) => !known.has(key) && known.add(key));
}

/** The effect of a fact on an operation. `unchanged` and `stale` write nothing. */
type OperationTransition = { verdict: Verdict; next: CardOperation };

/**
 * The state machine of the operations that submit or withdraw a dispute: they move no money. A dispute that the issuer has
 * after all completes its operation, also a failed one.
 */
export function transitionDisputeOperation(
  operation: CardOperation,
  fact: InstructionFact,
  now: Date,
): OperationTransition {
  const change = changeFor(operation, fact, now);
  if (typeof change === 'string') return { verdict: change, next: operation };
  const next = applyChange(operation, fact, labelOf(fact), change, now);
  return { verdict: change.verdict ?? 'applied', next };
}

function changeFor(
  operation: CardOperation,
  fact: InstructionFact,
  now: Date,
): Change<CardOperation> | 'unchanged' | 'stale' {
  const { status } = operation;
  switch (fact.kind) {
    case 'succeeded':
      if (status === 'completed') return 'unchanged';
      return {
        set: {
          status: 'completed',
          completed_at: now,
          failure: null,
          attention: null,
          monitor_until: null,
        },
        entry: ['completed', 'the issuer has carried it out'],
      };
    case 'rejected':
      return reject(operation, fact, now);
    case 'operator_confirmed':
      if (status !== 'completed') return 'stale';
      if (operation.attention === null) return 'unchanged';
      return {
        set: { attention: null },
        entry: ['attention_cleared', 'an operator confirmed it, and so did the issuer'],
      };
    case 'reversed':
      return 'stale';
  }
}

function reject(
  operation: CardOperation,
  fact: Extract<InstructionFact, { kind: 'rejected' }>,
  now: Date,
): Change<CardOperation> | 'unchanged' | 'stale' {
  const late = rejectionAfterEnd(operation, fact, now, {
    contradiction: 'the issuer rejects what it had reported as carried out',
    nothing: 'the issuer confirms that it has carried out nothing',
  });
  if (late !== null) return late;
  return {
    set: {
      status: 'failed',
      failure: operationFailure(fact.code),
      attention: null,
      monitor_until: monitoredUntil(operation, fact.via, now),
    },
    entry: ['completed', 'the issuer has not carried it out'],
  };
}
