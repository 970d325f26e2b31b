import type { IssuedCard, IssueState } from '../../core/providers/card-issuer.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import {
  applyChange,
  labelOf,
  monitoredUntil,
  raiseAttention,
  type Change,
  type Verdict,
  rejectionAfterEnd,
} from '../../core/instructions/transition.js';
import type { Card } from './record.js';
import { operationFailure, type CardOperation } from './card-operation.js';

/**
 * A fact about the issuance of a card. `issued` has the card data that the issuer returned. Workflow histories must not hold
 * that data, so a workflow has `succeeded` in its place, which is applied after `issued`.
 */
export type IssuanceFact = InstructionFact | (FactSource & { kind: 'issued' } & IssuedCard);

/** The effect of a fact. `unchanged` and `stale` write nothing. `card` is null if the card does not change. */
export type IssuanceTransition = {
  verdict: Verdict;
  operation: CardOperation;
  card: Partial<Card> | null;
};

type IssuanceChange = Change<CardOperation> & { card?: Partial<Card> };

/** The state machine of a card's issuance: total, without side effects, and the only way for a card to become active. No money moves. */
export function transitionIssuance(
  operation: CardOperation,
  card: Card,
  fact: IssuanceFact,
  now: Date,
): IssuanceTransition {
  const change = changeFor(operation, card, fact, now);
  if (typeof change === 'string') return { verdict: change, operation, card: null };
  const next = applyChange(operation, fact, labelOf(fact), change, now);
  return { verdict: change.verdict ?? 'applied', operation: next, card: change.card ?? null };
}

function changeFor(
  operation: CardOperation,
  card: Card,
  fact: IssuanceFact,
  now: Date,
): IssuanceChange | 'unchanged' | 'stale' {
  // The answer's card data was applied as `issued` before, so `succeeded` adds nothing.
  if (fact.kind === 'succeeded') return card.issued === null ? 'stale' : 'unchanged';
  if (fact.kind === 'reversed') return 'stale';
  if (fact.kind === 'operator_confirmed') return confirmByOperator(operation, card, now);
  if (fact.kind === 'issued' && card.issued !== null) {
    return card.issued.issuer_card_id === fact.card
      ? 'unchanged'
      : raiseAttention(operation, now, 'the issuer reports another card than before');
  }
  if (fact.kind === 'rejected') return reject(operation, fact, now);
  return isOpen(operation) ? activate(card, fact, now) : recordLateIssuance(fact, now);
}

type Issued = Extract<IssuanceFact, { kind: 'issued' }>;

const asIssued = ({ card, brand, last4, expiryMonth, expiryYear }: Issued): Card['issued'] => ({
  issuer_card_id: card,
  brand,
  last4,
  expiry_month: expiryMonth,
  expiry_year: expiryYear,
});

/** A card that must be activated is locked until the tenant unlocks it. */
function activate({ state_control: control }: Card, fact: Issued, now: Date): IssuanceChange {
  const { needsActivation } = fact;
  return {
    set: { status: 'completed', completed_at: now, attention: null },
    entry: ['completed', needsActivation ? 'the card must be activated' : 'the card is active'],
    card: {
      status: needsActivation ? 'locked' : 'active',
      issued: asIssued(fact),
      ...(needsActivation && { state_control: { ...control, desired: 'locked' as const } }),
    },
  };
}

function reject(
  operation: CardOperation,
  fact: Extract<IssuanceFact, { kind: 'rejected' }>,
  now: Date,
): IssuanceChange | 'unchanged' | 'stale' {
  const late = rejectionAfterEnd(operation, fact, now, {
    contradiction: 'the issuer rejected a card that it had reported as issued',
    nothing: 'the issuer confirms that it issued no card',
  });
  if (late !== null) return late;
  const failure = operationFailure(fact.code);
  return {
    set: {
      status: 'failed',
      failure,
      attention: null,
      monitor_until: monitoredUntil(operation, fact.via, now),
    },
    entry: ['completed', 'there is no card'],
    card: { status: 'failed', failure },
  };
}

/** The issuer has issued a card that had failed here. It stays failed, so all its payments are declined. */
const recordLateIssuance = (fact: Issued, now: Date): IssuanceChange => ({
  set: {
    monitor_until: null,
    attention: { since: now, reason: 'issued by the issuer after the card had failed' },
  },
  entry: ['attention_raised', 'the card stays failed until an operator confirms it'],
  card: { issued: asIssued(fact) },
  verdict: 'attention',
});

/** An operator confirms a card that the issuer has issued. A failed card becomes active. */
function confirmByOperator(
  operation: CardOperation,
  card: Card,
  now: Date,
): IssuanceChange | 'unchanged' | 'stale' {
  if (isOpen(operation) || card.issued === null) return 'stale';
  if (operation.status === 'completed') {
    if (operation.attention === null) return 'unchanged';
    return {
      set: { attention: null },
      entry: ['attention_cleared', 'an operator and the issuer confirm the card'],
    };
  }
  return {
    set: { status: 'completed', completed_at: now, failure: null, attention: null },
    entry: ['completed', 'the card is active after all'],
    card: { status: 'active', failure: null },
  };
}

/** The fact in an issuer's report about a card, or null if the outcome is not final yet. */
export function issuanceFactOf(state: IssueState, source: FactSource): IssuanceFact | null {
  return state.kind === 'pending' ? null : { ...source, ...state };
}
