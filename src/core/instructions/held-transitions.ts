import type { FactSource, InstructionFact } from './fact.js';
import { isOpen, type InstructionRecord } from './instruction.js';
import {
  applyChange,
  labelOf,
  monitoredUntil,
  raiseAttention,
  type Change,
  type Verdict,
} from './transition.js';
import type { InstructionLabels } from './workflow-contract.js';

/** An instruction that holds money in the wallet until its outcome is proven. */
export type HeldInstruction = InstructionRecord & {
  failure: { code: string; message: string } | null;
  /** True if the provider executed it and that was proven after the hold was released: it is booked in suspense. */
  in_suspense: boolean;
  /** Amount that the provider has executed and an operator has accepted, if it is not the requested one. */
  settled_amount_minor?: bigint | null;
  completed_at: Date | null;
  reversed_at: Date | null;
  /** How often an operator has corrected what is booked of it after its end; missing if never. Later postings have this number. */
  corrections?: number;
};

/**
 * A correction of what is booked, for a wallet or in suspense. `adjustment`: to another amount. `return`: nothing was paid after
 * all, and nothing remains booked.
 */
export type Correction = 'adjustment' | 'return';

/** A movement of held money. */
export type HoldStep =
  'capture' | 'release' | 'reversal' | 'suspense' | 'suspense-reversal' | 'suspense-debit';

/** Result of a fact. `unchanged` and `stale` write nothing. */
export type TransitionResult<R> = {
  verdict: Verdict;
  next: R;
  /** Movements of the held money, in sequence. The capability makes postings of them. */
  ledgerEffects: readonly HoldStep[];
  /** A correction of what is booked, before these movements. */
  correction?: Correction;
};

/** A capability's own part of a transition. */
export type TransitionRules<R> = {
  labels: InstructionLabels;
  requestedMinor: bigint | null;
  /** An operator may accept another amount: the capability's postings follow `settled_amount_minor`. */
  acceptsOtherAmount?: boolean;
  /** An operator may correct what is booked after the end: the capability's postings follow `correction` and `corrections`. */
  correctable?: boolean;
  /** True if the wallet covers a suspense debit. */
  covered: boolean;
  failure(code: string): { code: string; message: string };
  /** Timeline texts about the money. */
  timelineDetails: { captured: string; reversed: string };
  /** Further fields that a payment or its reversal sets on the record. */
  proof?(fact: Extract<InstructionFact, { kind: 'succeeded' | 'reversed' }>): Partial<R>;
  /** Reason why the fact contradicts the record, besides another amount: then no money moves and attention is raised. */
  contradicts?(fact: InstructionFact): string | null;
  /** Name of the fact on the timeline, if its kind is not precise enough. */
  label?: string;
};

type HeldChange = Change<HeldInstruction> & {
  ledgerEffects?: HoldStep[];
  correction?: Correction;
};

type TransitionCase = {
  record: HeldInstruction;
  now: Date;
  rules: TransitionRules<never> & { proven: object };
};

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

/**
 * Ends an instruction that the provider has executed with another amount, as an operator has accepted it. The difference
 * stays in the wallet if it is less, and is in suspense if it is more, because the tenant did not order it. What is booked with
 * another amount already is adjusted.
 */
function acceptAmount(
  given: TransitionCase,
  settledMinor: bigint,
): HeldChange | 'unchanged' | 'stale' {
  const { record, now, rules } = given;
  const { requestedMinor, labels, correctable = false } = rules;
  const isCompleted = record.status === 'completed';
  const isBooked = isCompleted || record.in_suspense;
  const isCorrection = isBooked || record.reversed_at !== null;
  if (requestedMinor === null || (isCorrection && !correctable)) return 'stale';
  if (settledMinor !== requestedMinor && rules.acceptsOtherAmount !== true) return 'stale';
  const isOther = settledMinor !== bookedMinor(given);
  // A repeat of this command changes nothing after the provider's next report.
  const isAsked = isCorrection && (isOther || !isBooked);
  if (isAsked && !hasOtherAmount(given)) return 'stale';
  const reason = `the wallet could not cover this ${labels.payment}`;
  if (isCompleted && !isOther) {
    if (hasOtherAmount(given)) return 'stale';
    // A repeat of this command must not end the call of its own.
    return record.attention?.reason === reason ? 'unchanged' : clearAttention(given);
  }
  const owes = !isOpen(record) && !rules.covered;
  return {
    set: {
      status: 'completed',
      failure: null,
      in_suspense: false,
      completed_at: isCompleted ? record.completed_at : now,
      reversed_at: null,
      monitor_until: null,
      settled_amount_minor: settledMinor === requestedMinor ? null : settledMinor,
      ...rules.proven,
      attention: owes ? { since: now, reason } : null,
      ...(isCorrection && corrected(record)),
    },
    entry: [
      'captured',
      `an operator accepted the amount ${settledMinor} of the ${labels.provider} in place of ${bookedMinor(given)}`,
    ],
    ledgerEffects: debitsOf(record),
    ...(isBooked && isOther && { correction: 'adjustment' }),
  };
}

/** The movements by which the wallet pays for a payment that an operator accepts. */
function debitsOf(record: HeldInstruction): HoldStep[] {
  if (isOpen(record)) return ['capture'];
  if (record.status === 'completed') return [];
  return record.in_suspense ? ['suspense-debit'] : ['suspense', 'suspense-debit'];
}

/** The amount that is booked, or would be. */
const bookedMinor = ({ record, rules }: TransitionCase) =>
  record.settled_amount_minor ?? rules.requestedMinor;

const corrected = ({ corrections = 0 }: HeldInstruction) => ({ corrections: corrections + 1 });

/** Reasons of attention for a report that contradicts what is booked. */
const rejectsPaid = ({ provider, paid }: InstructionLabels) =>
  `the ${provider} rejects what it had reported as ${paid}`;
const otherAmount = ({ provider }: InstructionLabels) =>
  `the ${provider} reports another amount than was requested`;

const hasOtherAmount = ({ record, rules }: TransitionCase): boolean =>
  record.attention?.reason.startsWith(otherAmount(rules.labels)) === true;

/** True if an operator is called because of a report that contradicts what is booked, and may correct that. */
const isContradicted = (given: TransitionCase): boolean =>
  given.rules.correctable === true &&
  (hasOtherAmount(given) || given.record.attention?.reason === rejectsPaid(given.rules.labels));

/** True if the provider has last reported that nothing of what is booked was paid, or remains paid. */
const isDenied = ({ record, rules: { labels } }: TransitionCase): boolean =>
  record.attention?.reason === rejectsPaid(labels) ||
  record.attention?.reason === `${otherAmount(labels)} (reversed)`;

/** True for a reversal of another amount after an operator has failed the record and nothing is booked: it contradicts nothing. */
const isReversalOfNothing = ({ record, rules }: TransitionCase, { kind }: InstructionFact) =>
  kind === 'reversed' &&
  rules.correctable === true &&
  record.status === 'failed' &&
  (record.monitor_until !== null || (record.corrections ?? 0) > 0) &&
  !record.in_suspense &&
  record.reversed_at === null;

/** True for an answer to a question that was asked after an operator was called: messages and repeats of answers may be older. */
const isNews = ({ attention }: HeldInstruction, { askedMs }: FactSource): boolean =>
  attention !== null && askedMs !== undefined && askedMs > attention.since.getTime();

type Rejection = Extract<InstructionFact, { kind: 'rejected' }>;

const isForcedFail = (fact: InstructionFact): fact is FactSource & Rejection =>
  fact.kind === 'rejected' && fact.via === 'operator' && fact.ifNotSubmitted !== true;

/**
 * An operator fails by force what has ended. What is booked is taken back if the provider has last denied it; a command that is
 * repeated after the provider has changed its word again changes nothing.
 */
function takeBack(given: TransitionCase, { code, via }: Rejection): HeldChange | 'stale' {
  const { record, now, rules } = given;
  if (!isDenied(given)) return 'stale';
  const isCompleted = record.status === 'completed';
  return {
    set: {
      status: 'failed',
      failure: record.failure ?? rules.failure(code),
      in_suspense: false,
      attention: null,
      monitor_until: record.reversed_at === null ? monitoredUntil(record, via, now) : null,
      ...corrected(record),
    },
    entry: isCompleted
      ? ['reversed', rules.timelineDetails.reversed]
      : ['reversed', 'nothing of it is booked any more'],
    ...((isCompleted || record.in_suspense) && { correction: 'return' }),
  };
}

/** True for a payment that the provider, asked after a contradiction, reports as it is booked. */
const agreesAgain = (
  given: TransitionCase,
  fact: FactSource & Extract<InstructionFact, { kind: 'succeeded' }>,
): boolean =>
  fact.amountMinor !== null &&
  !fact.unlessFailed &&
  isNews(given.record, fact) &&
  isContradicted(given);

/** The provider agrees with what is booked again, as it answers when it is asked: nobody need act. */
const clearContradiction = ({ rules }: TransitionCase): HeldChange => ({
  set: { attention: null },
  entry: ['attention_cleared', `the ${rules.labels.provider} agrees with what is booked again`],
});

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

function clearAttention({ record, rules }: TransitionCase): HeldChange | 'unchanged' {
  const { provider, payment } = rules.labels;
  if (record.attention === null) return 'unchanged';
  return {
    set: { attention: null },
    entry: [
      'attention_cleared',
      `an operator confirmed the ${payment}, and so did the ${provider}`,
    ],
  };
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
