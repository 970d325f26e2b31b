import {
  acceptAmount,
  agreesAgain,
  bookedMinor,
  clearAttention,
  clearContradiction,
  hasOtherAmount,
  isContradicted,
  isForcedFail,
  isNews,
  isReversalOfNothing,
  otherAmount,
  rejectsPaid,
  takeBack,
} from './corrections.js';
import type { FactSource, InstructionFact } from './fact.js';
import type {
  HeldChange,
  HeldInstruction,
  TransitionCase,
  TransitionResult,
  TransitionRules,
} from './held-instruction.js';
import { isOpen } from './instruction.js';
import { applyChange, labelOf, monitoredUntil, raiseAttention } from './transition.js';
import type { InstructionLabels } from './workflow-contract.js';

/**
 * Applies a fact to an instruction that holds money. Pure and total, and the only way in which such a record ends. A
 * known fact changes nothing. A fact that contradicts the ledger moves no money and raises attention.
 */
export function transitionHeld<R extends HeldInstruction>(
  record: R,
  fact: InstructionFact,
  now: Date,
  rules: TransitionRules<R>,
): TransitionResult<R> {
  const proof = proofOf(fact);
  const proven = (proof && rules.proof?.(proof)) || {};
  const change = transitionFact(
    { record, now, rules: { ...rules, proven } as TransitionCase['rules'] },
    fact,
  );
  if (typeof change === 'string') return { verdict: change, next: record, ledgerEffects: [] };
  const { set, entry, ledgerEffects = [], correction, verdict = 'applied' } = change;
  const next = applyChange(
    record,
    fact,
    rules.label ?? labelOf(fact),
    { set: set as Partial<R>, entry },
    now,
  );
  return { verdict, next, ledgerEffects, ...(correction && { correction }) };
}

type Proof = Extract<InstructionFact, { kind: 'succeeded' | 'reversed' }>;

/** The proof in a fact. An operator's acceptance of another amount has the provider's report of the payment. */
function proofOf(fact: InstructionFact): Proof | null {
  if (fact.kind === 'succeeded' || fact.kind === 'reversed') return fact;
  if (fact.kind !== 'operator_confirmed') return null;
  const { amountMinor = null, sessionId = null } = fact;
  if (amountMinor === null) return null;
  return { ...fact, kind: 'succeeded', amountMinor, sessionId };
}

function transitionFact(
  given: TransitionCase,
  fact: InstructionFact,
): HeldChange | 'unchanged' | 'stale' {
  const { record, now, rules } = given;
  const amountMinor = 'amountMinor' in fact ? (fact.amountMinor ?? null) : null;
  if (fact.kind === 'operator_confirmed' && amountMinor !== null) {
    return acceptAmount(given, amountMinor);
  }
  const isOther = amountMinor !== null && amountMinor !== bookedMinor(given);
  if (isOther && !isReversalOfNothing(given, fact)) {
    return raiseAttention(record, now, `${otherAmount(rules.labels)} (${fact.kind})`);
  }
  const contradiction = rules.contradicts?.(fact) ?? null;
  if (contradiction !== null) return raiseAttention(record, now, contradiction);
  if (fact.kind === 'rejected' && mayBeExecuted(record, fact)) return 'stale';
  if (isOpen(record)) return transitionOpen(given, fact);
  if (isForcedFail(fact) && rules.correctable === true) return takeBack(given, fact);
  return record.status === 'completed'
    ? transitionCompleted(given, fact)
    : transitionFailed(given, fact);
}

/** True if a rejection says nothing about a submission that the provider may still have. */
function mayBeExecuted(
  { submissions, rejected_submissions: rejected }: HeldInstruction,
  { ifNotSubmitted, scope }: Extract<InstructionFact, { kind: 'rejected' }>,
): boolean {
  const possible = submissions - rejected;
  return (ifNotSubmitted === true && possible > 0) || (scope === 'request' && possible > 1);
}

function transitionOpen(given: TransitionCase, fact: InstructionFact): HeldChange | 'stale' {
  const { now, rules } = given;
  switch (fact.kind) {
    case 'succeeded':
      return {
        set: { status: 'completed', completed_at: now, attention: null, ...rules.proven },
        entry: ['captured', rules.timelineDetails.captured],
        ledgerEffects: ['capture'],
      };
    case 'rejected':
      return rejectHeld(given, fact.code, fact);
    case 'reversed':
      return { ...reverseHeld(given), ledgerEffects: ['capture', 'reversal'] };
    case 'operator_confirmed':
      return 'stale';
  }
}

/** Releases the hold. If an operator fails a submitted instruction, the provider is monitored. */
function rejectHeld(
  { record, now, rules }: TransitionCase,
  code: string,
  { via }: FactSource,
): HeldChange {
  return {
    set: {
      status: 'failed',
      failure: rules.failure(code),
      attention: null,
      monitor_until: monitoredUntil(record, via, now),
    },
    entry: ['released', 'the hold was released to the wallet'],
    ledgerEffects: ['release'],
  };
}

/** Executed and reversed: the amount returns to the wallet, also if the payment was not booked before. */
function reverseHeld({ now, rules }: TransitionCase): HeldChange {
  return {
    set: {
      status: 'failed',
      failure: rules.failure('reversed'),
      attention: null,
      reversed_at: now,
      monitor_until: null,
      ...rules.proven,
    },
    entry: ['reversed', rules.timelineDetails.reversed],
    ledgerEffects: ['reversal'],
  };
}

function transitionCompleted(
  given: TransitionCase,
  fact: InstructionFact,
): HeldChange | 'unchanged' | 'stale' {
  const { record, now, rules } = given;
  switch (fact.kind) {
    case 'succeeded':
      return agreesAgain(given, fact) ? clearContradiction(given) : 'unchanged';
    case 'reversed':
      return reverseHeld(given);
    case 'operator_confirmed':
      return rules.correctable && hasOtherAmount(given) ? 'stale' : clearAttention(given);
    case 'rejected':
      return raiseAttention(record, now, rejectsPaid(rules.labels));
  }
}

/**
 * True if the provider's failure of this record may be newer than its report of success. It is not if an operator has failed the
 * record, which is then monitored.
 */
const isOverruled = (
  { monitor_until: monitored }: HeldInstruction,
  { unlessFailed }: Extract<InstructionFact, { kind: 'succeeded' }>,
): boolean => unlessFailed === true && monitored === null;

function transitionFailed(
  given: TransitionCase,
  fact: InstructionFact,
): HeldChange | 'unchanged' | 'stale' {
  const { record, rules } = given;
  switch (fact.kind) {
    case 'rejected':
      return rejectAgain(given, fact);
    case 'succeeded':
      if (record.reversed_at !== null) return 'stale';
      if (record.in_suspense) return agreesInSuspense(given, fact);
      return isOverruled(record, fact) ? 'stale' : bookInSuspense(given);
    case 'reversed':
      if (record.reversed_at === null) return reverseFailed(given, fact.amountMinor);
      return isNews(record, fact) && isContradicted(given)
        ? clearContradiction(given)
        : 'unchanged';
    case 'operator_confirmed':
      if (!record.in_suspense || (rules.correctable && hasOtherAmount(given))) return 'stale';
      return debitForSuspense(given);
  }
}

/** The provider rejects what has failed. Only its answer to a question is surely newer than a payment in suspense. */
function rejectAgain(given: TransitionCase, fact: FactSource): HeldChange | 'unchanged' {
  const { record, now, rules } = given;
  const { via } = fact;
  const { provider, pay } = rules.labels;
  if (via === 'poll' && record.in_suspense && rules.correctable) {
    return raiseAttention(record, now, rejectsPaid(rules.labels));
  }
  if (isNews(record, fact) && isContradicted(given)) return clearContradiction(given);
  if (record.monitor_until === null || via === 'operator') return 'unchanged';
  return {
    set: { monitor_until: null },
    entry: ['note', `the ${provider} confirms that it did not ${pay}`],
  };
}

const paidLate = ({ provider, paid }: InstructionLabels) =>
  `${paid} by the ${provider} after the hold had been released`;

/** The provider agrees with what is in suspense: after a contradiction, an operator is called for the suspense again. */
function agreesInSuspense(
  given: TransitionCase,
  fact: Extract<InstructionFact, { kind: 'succeeded' }>,
): HeldChange | 'unchanged' {
  if (!agreesAgain(given, fact)) return 'unchanged';
  const attention = { since: given.now, reason: paidLate(given.rules.labels) };
  return { ...clearContradiction(given), set: { attention } };
}

/** Proven after the hold was released: the provider executed it, and no wallet has paid for it yet. */
function bookInSuspense({ now, rules }: TransitionCase): HeldChange {
  const { payment } = rules.labels;
  const reason = paidLate(rules.labels);
  return {
    set: {
      in_suspense: true,
      monitor_until: null,
      ...rules.proven,
      attention: { since: now, reason },
    },
    entry: ['suspense', `the ${payment} was booked against suspense`],
    ledgerEffects: ['suspense'],
    verdict: 'attention',
  };
}

function reverseFailed(given: TransitionCase, amountMinor: bigint | null): HeldChange {
  const { record, now, rules } = given;
  const { provider, payment } = rules.labels;
  const isOther = amountMinor !== null && amountMinor !== bookedMinor(given);
  return {
    set: {
      reversed_at: now,
      in_suspense: false,
      attention: null,
      monitor_until: null,
      // The same report again is no other amount then.
      ...(isOther && { settled_amount_minor: amountMinor }),
    },
    entry: [
      'reversed',
      `the ${provider} reversed the ${payment}; the hold had been released before`,
    ],
    ledgerEffects: record.in_suspense ? ['suspense-reversal'] : [],
  };
}

/** Debits the wallet for a payment in suspense. A missing amount becomes a receivable. */
function debitForSuspense({ now, rules }: TransitionCase): HeldChange {
  const { payment } = rules.labels;
  const reason = `the wallet could not cover this ${payment}`;
  return {
    set: {
      status: 'completed',
      failure: null,
      in_suspense: false,
      completed_at: now,
      attention: rules.covered ? null : { since: now, reason },
    },
    entry: ['captured', `the wallet was debited for a ${payment} that had been proven late`],
    ledgerEffects: ['suspense-debit'],
  };
}
