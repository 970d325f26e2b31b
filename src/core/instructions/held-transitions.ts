import type { FactSource, InstructionFact } from './fact.js';
import { isOpen, needsWorkflow, type InstructionRecord } from './instruction.js';
import { timelineEntry, type TimelineType } from './timeline.js';
import type { InstructionLabels } from './workflow-contract.js';

/** What the guard needs of a record beside its pursuit: how it ended, and where its money stands. */
export type HeldInstruction = InstructionRecord & {
  failure: { code: string; message: string } | null;
  /** Done by the provider and proven after the hold was released: booked against `suspense`. */
  in_suspense: boolean;
  completed_at: Date | null;
  reversed_at: Date | null;
};

/** How a fact moves what a record has held. Which postings that are, its capability says; they come in this order. */
export type LedgerEffect =
  'capture' | 'release' | 'reversal' | 'suspense' | 'suspense-reversal' | 'suspense-debit';

/** What a fact does. `unchanged` and `stale` write nothing. */
export type TransitionResult<R> = {
  verdict: 'applied' | 'unchanged' | 'stale' | 'attention';
  next: R;
  ledgerEffects: LedgerEffect[];
};

/** What the guard has to be told about a record. */
export type TransitionRules<R> = {
  labels: InstructionLabels;
  requestedMinor: bigint | null;
  /** Whether the wallet has what an adoption takes from it. */
  covered: boolean;
  failure(code: string): { code: string; message: string };
  /** What becomes of the money, for the timeline. */
  timelineDetails: { captured: string; reversed: string };
  /** What else a payment or its reversal leaves with the record. */
  proof?(fact: Extract<InstructionFact, { kind: 'succeeded' | 'reversed' }>): Partial<R>;
  /** What of the fact can't be, beside another amount: no money moves, and an operator has to look. */
  contradicts?(fact: InstructionFact): string | null;
  /** How the timeline calls the fact, where its kind does not say it. */
  label?: string;
};

/** How long the provider is asked on after an operator gave a record up against its silence. */
const MONITORING_MS = 24 * 60 * 60 * 1000;

type Change = {
  set: Partial<HeldInstruction>;
  entry: [TimelineType, string];
  ledgerEffects?: LedgerEffect[];
  verdict?: 'applied' | 'attention';
};

type TransitionCase = {
  record: HeldInstruction;
  now: Date;
  rules: TransitionRules<never> & { proven: object };
};

/**
 * The state guard: what a fact does to a record that holds money until its end is proven. Pure, total, and the only
 * place where such a record ends. A fact that is already so changes nothing; one that contradicts what is booked moves
 * no money and asks for an operator.
 */
export function transitionHeld<R extends HeldInstruction>(
  record: R,
  fact: InstructionFact,
  now: Date,
  rules: TransitionRules<R>,
): TransitionResult<R> {
  const isProof = fact.kind === 'succeeded' || fact.kind === 'reversed';
  const proven = (isProof && rules.proof?.(fact)) || {};
  const change = transitionFact(
    { record, now, rules: { ...rules, proven } as TransitionCase['rules'] },
    fact,
  );
  if (typeof change === 'string') return { verdict: change, next: record, ledgerEffects: [] };
  const { set, entry, ledgerEffects = [], verdict = 'applied' } = change;
  const origin = { providerRequestId: fact.providerRequestId };
  const actor = fact.actor ?? record.provider;
  const detail = [rules.label ?? labelOf(fact), fact.note].filter((part) => part !== null);
  const factEntry = timelineEntry(now, fact.via, actor, { detail: detail.join('; '), ...origin });
  const effectEntry = timelineEntry(now, entry[0], 'bursar', { detail: entry[1] });
  const next: R = {
    ...record,
    ...set,
    version: record.version + 1,
    updated_at: now,
    timeline: [...record.timeline, factEntry, effectEntry],
  };
  if (!needsWorkflow(next)) next.next_check_at = null;
  else next.next_check_at ??= now;
  return { verdict, next, ledgerEffects };
}

const labelOf = (fact: InstructionFact) =>
  fact.kind === 'rejected' ? `rejected: ${fact.code}` : fact.kind;

function transitionFact(
  given: TransitionCase,
  fact: InstructionFact,
): Change | 'unchanged' | 'stale' {
  const { record, rules } = given;
  if ('amountMinor' in fact && fact.amountMinor !== null) {
    if (fact.amountMinor !== rules.requestedMinor) {
      const { provider } = rules.labels;
      const reason = `the ${provider} reports another amount than was ordered (${fact.kind})`;
      return raiseAttention(given, reason);
    }
  }
  const contradiction = rules.contradicts?.(fact) ?? null;
  if (contradiction !== null) return raiseAttention(given, contradiction);
  if (fact.kind === 'rejected' && fact.ifNotSubmitted && record.submissions > 0) return 'stale';
  if (isOpen(record)) return transitionOpen(given, fact);
  return record.status === 'completed'
    ? transitionCompleted(given, fact)
    : transitionFailed(given, fact);
}

function transitionOpen(given: TransitionCase, fact: InstructionFact): Change | 'stale' {
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

/** The hold goes back to the wallet. Where an operator says so against a silent provider, it is watched on. */
function rejectHeld(
  { record, now, rules }: TransitionCase,
  code: string,
  { via }: FactSource,
): Change {
  const monitored = via === 'operator' && record.submissions > 0;
  return {
    set: {
      status: 'failed',
      failure: rules.failure(code),
      attention: null,
      monitor_until: monitored ? new Date(now.getTime() + MONITORING_MS) : null,
    },
    entry: ['released', 'the hold was released to the wallet'],
    ledgerEffects: ['release'],
  };
}

/** Done and taken back: what the wallet has paid returns to it, whether that had been booked or not. */
function reverseHeld({ now, rules }: TransitionCase): Change {
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
): Change | 'unchanged' | 'stale' {
  const { provider, paid } = given.rules.labels;
  if (fact.kind === 'succeeded') return 'unchanged';
  if (fact.kind === 'reversed') return reverseHeld(given);
  if (fact.kind === 'operator_confirmed') return clearAttention(given);
  return raiseAttention(given, `the ${provider} refused what it had reported as ${paid}`);
}

function clearAttention({ record, rules }: TransitionCase): Change | 'unchanged' {
  const { provider, payment } = rules.labels;
  if (record.attention === null) return 'unchanged';
  return {
    set: { attention: null },
    entry: [
      'attention_cleared',
      `an operator stands by the ${payment}, and so does the ${provider}`,
    ],
  };
}

function transitionFailed(
  given: TransitionCase,
  fact: InstructionFact,
): Change | 'unchanged' | 'stale' {
  const { record, rules } = given;
  const { provider, pay } = rules.labels;
  switch (fact.kind) {
    case 'rejected':
      if (record.monitor_until === null || fact.via === 'operator') return 'unchanged';
      return {
        set: { monitor_until: null },
        entry: ['note', `the ${provider} confirms that it did not ${pay}`],
      };
    case 'succeeded':
      if (record.reversed_at !== null) return 'stale';
      return record.in_suspense ? 'unchanged' : bookInSuspense(given);
    case 'reversed':
      return record.reversed_at === null ? reverseFailed(given) : 'unchanged';
    case 'operator_confirmed':
      return record.in_suspense ? debitForSuspense(given) : 'stale';
  }
}

/** Proven after the hold was given back: it has happened, and nobody has paid for it yet. */
function bookInSuspense({ now, rules }: TransitionCase): Change {
  const { provider, paid, payment } = rules.labels;
  const reason = `${paid} by the ${provider} after the hold had been released`;
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

function reverseFailed({ record, now, rules }: TransitionCase): Change {
  const { provider, payment } = rules.labels;
  return {
    set: { reversed_at: now, in_suspense: false, attention: null, monitor_until: null },
    entry: [
      'reversed',
      `the ${provider} took the ${payment} back; the wallet had its money already`,
    ],
    ledgerEffects: record.in_suspense ? ['suspense-reversal'] : [],
  };
}

/** An operator lets the wallet pay after all; what it lacks is owed. */
function debitForSuspense({ now, rules }: TransitionCase): Change {
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

/** No money moves; an operator has to look. Said once: the same reason again changes nothing. */
function raiseAttention({ record, now }: TransitionCase, reason: string): Change | 'unchanged' {
  if (record.attention?.reason === reason) return 'unchanged';
  return {
    set: { attention: { since: now, reason } },
    entry: ['attention_raised', reason],
    verdict: 'attention',
  };
}
