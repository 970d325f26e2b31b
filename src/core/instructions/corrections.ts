import type { FactSource, InstructionFact } from './fact.js';
import { isOpen } from './instruction.js';
import type { HeldChange, HeldInstruction, HoldStep, TransitionCase } from './held-instruction.js';
import { monitoredUntil } from './transition.js';
import type { InstructionLabels } from './workflow-contract.js';

/**
 * Ends an instruction that the provider has executed with another amount, as an operator has accepted it. The difference
 * stays in the wallet if it is less, and is in suspense if it is more, because the tenant did not order it. What is booked with
 * another amount already is adjusted.
 */
export function acceptAmount(
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
export const bookedMinor = ({ record, rules }: TransitionCase) =>
  record.settled_amount_minor ?? rules.requestedMinor;

const corrected = ({ corrections = 0 }: HeldInstruction) => ({ corrections: corrections + 1 });

/** The reason of attention if the provider rejects what is booked as paid. */
export const rejectsPaid = ({ provider, paid }: InstructionLabels) =>
  `the ${provider} rejects what it had reported as ${paid}`;
/** The reason of attention if the provider reports another amount than is booked, without the kind of its report. */
export const otherAmount = ({ provider }: InstructionLabels) =>
  `the ${provider} reports another amount than was requested`;

/** True if an operator is called because the provider reports another amount than is booked. */
export const hasOtherAmount = ({ record, rules }: TransitionCase): boolean =>
  record.attention?.reason.startsWith(otherAmount(rules.labels)) === true;

/** True if an operator is called because of a report that contradicts what is booked, and may correct that. */
export const isContradicted = (given: TransitionCase): boolean =>
  given.rules.correctable === true &&
  (hasOtherAmount(given) || given.record.attention?.reason === rejectsPaid(given.rules.labels));

/** True if the provider has last reported that nothing of what is booked was paid, or remains paid. */
const isDenied = ({ record, rules: { labels } }: TransitionCase): boolean =>
  record.attention?.reason === rejectsPaid(labels) ||
  record.attention?.reason === `${otherAmount(labels)} (reversed)`;

/** True for a reversal of another amount after an operator has failed the record and nothing is booked: it contradicts nothing. */
export const isReversalOfNothing = ({ record, rules }: TransitionCase, { kind }: InstructionFact) =>
  kind === 'reversed' &&
  rules.correctable === true &&
  record.status === 'failed' &&
  (record.monitor_until !== null || (record.corrections ?? 0) > 0) &&
  !record.in_suspense &&
  record.reversed_at === null;

/** True for an answer to a question that was asked after an operator was called: messages and repeats of answers may be older. */
export const isNews = ({ attention }: HeldInstruction, { askedMs }: FactSource): boolean =>
  attention !== null && askedMs !== undefined && askedMs > attention.since.getTime();

type Rejection = Extract<InstructionFact, { kind: 'rejected' }>;

/** True for a `fail` by force that the provider's answer permits. */
export const isForcedFail = (fact: InstructionFact): fact is FactSource & Rejection =>
  fact.kind === 'rejected' && fact.via === 'operator' && fact.ifNotSubmitted !== true;

/**
 * An operator fails by force what has ended. What is booked is taken back if the provider has last denied it; a command that is
 * repeated after the provider has changed its word again changes nothing.
 */
export function takeBack(given: TransitionCase, { code, via }: Rejection): HeldChange | 'stale' {
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
export const agreesAgain = (
  given: TransitionCase,
  fact: FactSource & Extract<InstructionFact, { kind: 'succeeded' }>,
): boolean =>
  fact.amountMinor !== null &&
  !fact.unlessFailed &&
  isNews(given.record, fact) &&
  isContradicted(given);

/** The provider agrees with what is booked again, as it answers when it is asked: nobody need act. */
export const clearContradiction = ({ rules }: TransitionCase): HeldChange => ({
  set: { attention: null },
  entry: ['attention_cleared', `the ${rules.labels.provider} agrees with what is booked again`],
});

/** Ends the call for an operator, who confirms what is booked as the provider does. */
export function clearAttention({ record, rules }: TransitionCase): HeldChange | 'unchanged' {
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
