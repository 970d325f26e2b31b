import type { IssuedCard } from '../../core/providers/card-issuer.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import { isOpen, needsWorkflow } from '../../core/instructions/instruction.js';
import { timelineEntry, type TimelineType } from '../../core/instructions/timeline.js';
import type { Card } from './card.js';
import { operationFailure, type CardOperation } from './card-operation.js';

/** `issued` is what the issuer tells of the card. `paid` stands for it in histories, which must not hold that. */
export type IssuanceFact = InstructionFact | (FactSource & { kind: 'issued' } & IssuedCard);

/** What a fact does. `unchanged` and `stale` write nothing; `card` is null where the card stays as it is. */
export type IssuanceTransition = {
  verdict: 'applied' | 'unchanged' | 'stale' | 'attention';
  operation: CardOperation;
  card: Partial<Card> | null;
};

/** How long the issuer is asked on after an operator gave a card up against its silence. */
const MONITOR_MS = 24 * 60 * 60 * 1000;

type IssuanceChange = {
  set: Partial<CardOperation>;
  entry: [TimelineType, string];
  card?: Partial<Card>;
  verdict?: 'applied' | 'attention';
};

/** The state guard of issuing: pure, total, and the only place where a card begins. No money moves. */
export function transitionIssuance(
  operation: CardOperation,
  card: Card,
  fact: IssuanceFact,
  now: Date,
): IssuanceTransition {
  const change = changeFor(operation, card, fact, now);
  if (typeof change === 'string') return { verdict: change, operation, card: null };
  const actor = fact.actor ?? operation.provider;
  const { providerRequestId } = fact;
  const next: CardOperation = {
    ...operation,
    ...change.set,
    version: operation.version + 1,
    updated_at: now,
    timeline: [
      ...operation.timeline,
      timelineEntry(now, fact.via, actor, { detail: describeFact(fact), providerRequestId }),
      timelineEntry(now, change.entry[0], 'bursar', { detail: change.entry[1] }),
    ],
  };
  if (!needsWorkflow(next)) next.next_check_at = null;
  else next.next_check_at ??= now;
  return { verdict: change.verdict ?? 'applied', operation: next, card: change.card ?? null };
}

const describeFact = (fact: IssuanceFact) =>
  [fact.kind === 'rejected' ? `rejected: ${fact.code}` : fact.kind, fact.note]
    .filter((part) => part !== null)
    .join('; ');

function changeFor(
  operation: CardOperation,
  card: Card,
  fact: IssuanceFact,
  now: Date,
): IssuanceChange | 'unchanged' | 'stale' {
  // What the issuer tells of a card is booked where it is heard; what comes after it has nothing to add.
  if (fact.kind === 'succeeded') return card.issued === null ? 'stale' : 'unchanged';
  if (fact.kind === 'reversed') return 'stale';
  if (fact.kind === 'rejected' && fact.ifNotSubmitted && operation.submissions > 0) return 'stale';
  if (fact.kind === 'operator_confirmed') return confirm(operation, card, now);
  if (fact.kind === 'issued' && card.issued !== null) {
    return card.issued.issuer_card_id === fact.card
      ? 'unchanged'
      : raiseAttention(operation, now, 'the issuer reports another card than before');
  }
  if (isOpen(operation)) {
    return fact.kind === 'issued' ? open(fact, now) : reject(operation, fact, now);
  }
  if (fact.kind === 'issued') return issuedLate(fact, now);
  if (operation.status === 'completed') {
    return raiseAttention(operation, now, 'the issuer refused what it had reported as issued');
  }
  if (operation.monitor_until === null || fact.via === 'operator') return 'unchanged';
  return {
    set: { monitor_until: null },
    entry: ['note', 'the issuer confirms that it issued no card'],
  };
}

type Issued = Extract<IssuanceFact, { kind: 'issued' }>;

const asIssued = ({ card, brand, last4, expiryMonth, expiryYear }: Issued): Card['issued'] => ({
  issuer_card_id: card,
  brand,
  last4,
  expiry_month: expiryMonth,
  expiry_year: expiryYear,
});

const open = (fact: Issued, now: Date): IssuanceChange => ({
  set: { status: 'completed', completed_at: now, attention: null },
  entry: ['completed', 'the card is active'],
  card: { status: 'active', issued: asIssued(fact) },
});

function reject(
  operation: CardOperation,
  { code, via }: Extract<IssuanceFact, { kind: 'rejected' }>,
  now: Date,
): IssuanceChange {
  const monitored = via === 'operator' && operation.submissions > 0;
  const failure = operationFailure(code);
  return {
    set: {
      status: 'failed',
      failure,
      attention: null,
      monitor_until: monitored ? new Date(now.getTime() + MONITOR_MS) : null,
    },
    entry: ['completed', 'there is no card'],
    card: { status: 'failed', failure },
  };
}

/** Given up, and there all the same: nobody can spend from it as long as it is not ours. */
const issuedLate = (fact: Issued, now: Date): IssuanceChange => ({
  set: {
    monitor_until: null,
    attention: { since: now, reason: 'issued by the issuer after the card had been given up' },
  },
  entry: ['attention_raised', 'the card stays failed until an operator stands by it'],
  card: { issued: asIssued(fact) },
  verdict: 'attention',
});

/** An operator stands by a card that the issuer confirms, also by one that had been given up. */
function confirm(
  operation: CardOperation,
  card: Card,
  now: Date,
): IssuanceChange | 'unchanged' | 'stale' {
  if (isOpen(operation) || card.issued === null) return 'stale';
  if (operation.status === 'completed') {
    if (operation.attention === null) return 'unchanged';
    return {
      set: { attention: null },
      entry: ['attention_cleared', 'an operator stands by the card, and so does the issuer'],
    };
  }
  return {
    set: { status: 'completed', completed_at: now, failure: null, attention: null },
    entry: ['completed', 'the card is active after all'],
    card: { status: 'active', failure: null },
  };
}

/** An operator has to look. Said once: the same reason again changes nothing. */
function raiseAttention(
  operation: CardOperation,
  now: Date,
  reason: string,
): IssuanceChange | 'unchanged' {
  if (operation.attention?.reason === reason) return 'unchanged';
  return {
    set: { attention: { since: now, reason } },
    entry: ['attention_raised', reason],
    verdict: 'attention',
  };
}
