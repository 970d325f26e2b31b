import type { ResendSafety } from '../../src/core/providers/transfer-provider.js';
import {
  idempotentAbsenceMs,
  type ProviderCallResult,
  type FactResult,
  type InstructionLabels,
  type InstructionPolicy,
  type SubmissionCounts,
} from '../../src/core/instructions/workflow-contract.js';
import { FIRST_POLL_MS, IDLE_POLL_MS } from '../policies.js';

/** A run's knowledge beyond its record: how often it polls, and how far absence is proven. */
export type ExecutionProgress = {
  submissions: number;
  /** Submissions that the provider may have accepted. */
  possibleSubmissions: number;
  /** Submissions that operators have allowed beyond `maxSubmissions`. */
  operatorRetries: number;
  pollMs: number;
  errors: number;
  /** Time of the first submission; null if the record has not named it yet. */
  firstSubmittedAtMs: number | null;
  /** The provider has reported that it has the instruction. */
  acknowledged: boolean;
  /** Time of the first "not found" since the last submission; null if any other answer followed it. */
  absentSinceMs: number | null;
  /** A submission was rejected with this code while an earlier one may have been executed: nothing is submitted again. */
  refusedCode?: string;
  /** An operator attests, for the present call alone, that nothing that was submitted will be executed. */
  absenceAttested?: boolean;
};

/** Times of a call and of its answer. */
type CallTimes = { askedMs: number; answeredMs: number };

/** The rules of the next step, besides progress and result. */
export type ExecutionRules = {
  policy: InstructionPolicy;
  labels: InstructionLabels;
  /** Repeats have no further effect at the provider, so "not found" is enough to submit again. */
  repeatable?: boolean;
};

/** The next step of a run. A signal ends its wait early. */
export type Step<Own = never> =
  /** `afterMs`: the store has refused the outcome, and it is tried again after this pause. */
  | { do: 'applyOutcome'; fact: FactResult<Own>; afterMs?: number }
  /**
   * `suppressTimeline`: the last submission was explicitly not accepted, and the timeline has that already. `attested`: an operator's
   * word permits it, which counts for this submission alone.
   */
  | { do: 'submit'; afterMs: number; suppressTimeline?: boolean; attested?: true }
  /** `stuck`: reason to raise attention. `closed`: the record has ended; attention or monitoring keeps the run. */
  | { do: 'verify'; afterMs: number; stuck: string | null; closed?: boolean }
  | { do: 'end' };

/** Progress of a run that has done nothing yet. */
export const initialProgress = (): ExecutionProgress => ({
  submissions: 0,
  possibleSubmissions: 0,
  operatorRetries: 0,
  pollMs: FIRST_POLL_MS,
  errors: 0,
  firstSubmittedAtMs: null,
  acknowledged: false,
  absentSinceMs: null,
});

/** Progress after an operator's `retry`: polling starts over, and one more submission is allowed than `maxSubmissions`. */
export const allowOperatorRetry = (
  progress: ExecutionProgress,
  { maxSubmissions }: Pick<InstructionPolicy, 'maxSubmissions'>,
): ExecutionProgress => ({
  ...progress,
  operatorRetries:
    Math.max(progress.operatorRetries, progress.possibleSubmissions - maxSubmissions) + 1,
  pollMs: FIRST_POLL_MS,
  errors: 0,
});

/** Decides the next step from a result. Pure; every decision about a provider's answer is made here. */
export function nextStep(
  progress: ExecutionProgress,
  result: ProviderCallResult,
  rules: ExecutionRules,
  asked: CallTimes,
): [ExecutionProgress, Step] {
  const { policy, labels } = rules;
  const known = learn(progress, result);
  const answered = { ...progress, ...known, errors: 0, absentSinceMs: null };
  switch (result.kind) {
    case 'closed':
      if (result.attention === null) return [answered, { do: 'end' }];
      // Attention keeps the workflow, so that operators find it in the UI.
      return [
        answered,
        { do: 'verify', afterMs: policy.pollMaxMs, stuck: result.attention, closed: true },
      ];
    case 'succeeded':
    case 'rejected':
    case 'reversed':
    case 'operator_confirmed':
      return [answered, { do: 'applyOutcome', fact: { ...result, askedMs: asked.askedMs } }];
    case 'not_submitted':
      return [ofAnotherAttempt(answered), { do: 'submit', afterMs: result.afterMs ?? 0 }];
    case 'throttled':
    case 'unsent':
    case 'rejected_temporarily': {
      const pollMs = Math.min(progress.pollMs, policy.pollMaxMs);
      const afterMs = pauseAfter(result, pollMs);
      const later = { ...answered, pollMs: pollMs * 2 };
      return mustNotRepeat(answered, result.resendSafety, labels, asked.answeredMs) === null
        ? [
            later,
            { do: 'submit', afterMs, ...(result.kind !== 'unsent' && { suppressTimeline: true }) },
          ]
        : [later, { do: 'verify', afterMs, stuck: null }];
    }
    case 'refused':
      return [
        { ...answered, refusedCode: result.code },
        { do: 'verify', afterMs: FIRST_POLL_MS, stuck: null },
      ];
    case 'permit_denied':
      return [answered, { do: 'verify', afterMs: 0, stuck: null }];
    case 'pending': {
      if (result.monitored) {
        const [later, step] = verifyLater(answered, policy, null);
        return [later, { ...step, closed: true }];
      }
      const pollMs = result.idle ? Math.max(answered.pollMs, IDLE_POLL_MS) : answered.pollMs;
      return verifyLater({ ...answered, pollMs }, policy, null, result.untilMs);
    }
    case 'mismatch':
      return [answered, { do: 'verify', afterMs: policy.pollMaxMs, stuck: result.attention }];
    case 'unknown': {
      return pollAgain({ ...answered, errors: progress.errors + 1 }, result, rules);
    }
    case 'not_found':
      return rules.repeatable
        ? [answered, { do: 'submit', afterMs: 0 }]
        : notFound(
            { ...absentSoFar(progress, result), ...known, errors: 0 },
            result.resendSafety,
            rules,
            asked,
          );
  }
}

/** The progress of another attempt: what was known about the last one does not count. */
function ofAnotherAttempt(progress: ExecutionProgress): ExecutionProgress {
  const { refusedCode: _, ...unrefused } = progress;
  return { ...unrefused, acknowledged: false, firstSubmittedAtMs: null };
}

function verifyLater(
  progress: ExecutionProgress,
  policy: InstructionPolicy,
  stuck: string | null,
  untilMs = Infinity,
): [ExecutionProgress, Extract<Step, { do: 'verify' }>] {
  const afterMs = Math.min(progress.pollMs, policy.pollMaxMs);
  return [
    { ...progress, pollMs: afterMs * 2 },
    { do: 'verify', afterMs: Math.min(afterMs, untilMs), stuck },
  ];
}

/** Discards earlier not-found evidence when `submissions` has changed: another run has submitted since. */
const absentSoFar = (
  progress: ExecutionProgress,
  { submissions }: SubmissionCounts,
): ExecutionProgress =>
  submissions === progress.submissions ? progress : { ...progress, absentSinceMs: null };

/** "Not found" allows another submission only as far as the provider's resend safety says that it proves absence. */
function notFound(
  progress: ExecutionProgress,
  resendSafety: ResendSafety,
  { policy, labels }: ExecutionRules,
  { askedMs, answeredMs }: CallTimes,
): [ExecutionProgress, Step] {
  const { provider, payment } = labels;
  const reason = mustNotRepeat(progress, resendSafety, labels, answeredMs);
  if (reason !== null) return verifyLater(progress, policy, reason);
  // Every submission was rejected or never made, so there is nothing that the provider could still execute.
  const mayExist = progress.possibleSubmissions > 0 && progress.absenceAttested !== true;
  // The next verification cancels it, and the answer to that is final.
  if (resendSafety.kind === 'fence' && mayExist) return verifyLater(progress, policy, null);
  if (resendSafety.kind === 'never' && mayExist) {
    const stuck = `the ${provider} does not know the ${payment} and cannot rule it out`;
    return verifyLater(progress, policy, stuck);
  }
  const provenAfterMs = absenceProvenAfter(progress, resendSafety);
  if (provenAfterMs > 0 && progress.possibleSubmissions > 0) {
    // From the first answer to the second call, because an answer in transit proves nothing about that time.
    const sinceMs = progress.absentSinceMs ?? answeredMs;
    if (progress.absentSinceMs === null || askedMs - sinceMs < provenAfterMs) {
      const afterMs = Math.max(sinceMs + provenAfterMs - answeredMs, 1);
      return [
        { ...progress, absentSinceMs: sinceMs },
        { do: 'verify', afterMs, stuck: null },
      ];
    }
  }
  if (progress.refusedCode !== undefined) {
    const { refusedCode: code } = progress;
    const fact = { kind: 'rejected', code, providerRequestId: null, via: 'poll' } as const;
    return [progress, { do: 'applyOutcome', fact }];
  }
  if (progress.possibleSubmissions - progress.operatorRetries >= policy.maxSubmissions) {
    const stuck = `the ${provider} does not answer submissions and does not know the ${payment}`;
    return verifyLater(progress, policy, stuck);
  }
  return [
    { ...progress, absentSinceMs: null },
    { do: 'submit', afterMs: 0 },
  ];
}

/** The errors of a provider that call an operator if they do not end. */
const ERRORS: ReadonlySet<string> = new Set([
  'server_error',
  'unreadable',
  'unrecognized',
  'mismatch',
]);

/** Verifies later. Errors that do not end call an operator. */
function pollAgain(
  progress: ExecutionProgress,
  { reason }: Extract<ProviderCallResult, { kind: 'unknown' }>,
  { policy, labels }: ExecutionRules,
): [ExecutionProgress, Step] {
  const failing = ERRORS.has(reason) && progress.errors >= policy.maxErrors;
  return verifyLater(
    progress,
    policy,
    failing ? `the ${labels.provider} answers with errors` : null,
  );
}

/** Longest pause before a submission that the provider's state prevents: it ends as soon as that does. */
const NOT_NOW_MAX_MS = 60_000;

/** Pause before a submission that was explicitly not accepted is made again. */
function pauseAfter(
  result: Extract<ProviderCallResult, { kind: 'throttled' | 'unsent' | 'rejected_temporarily' }>,
  pollMs: number,
): number {
  if (result.kind === 'throttled') return Math.max(result.retryAfterMs, pollMs);
  if (result.kind === 'unsent' || result.afterMs === undefined) return pollMs;
  return Math.max(result.afterMs, Math.min(pollMs, NOT_NOW_MAX_MS));
}

/** Time between two "not found" that allow another submission or, after a refusal, prove that there was none. */
function absenceProvenAfter(
  { refusedCode }: ExecutionProgress,
  resendSafety: ResendSafety,
): number {
  if (resendSafety.kind === 'conclusive_after') return resendSafety.ms;
  if (resendSafety.kind !== 'idempotent') return 0;
  return refusedCode === undefined
    ? (resendSafety.pauseMs ?? 0)
    : idempotentAbsenceMs(resendSafety);
}

/** Reason why the instruction is never submitted again, whatever a look-up says; null if a look-up may allow it. */
function mustNotRepeat(
  { acknowledged, firstSubmittedAtMs: firstMs, possibleSubmissions }: ExecutionProgress,
  resendSafety: ResendSafety | undefined,
  { provider, payment }: InstructionLabels,
  nowMs: number,
): string | null {
  if (resendSafety?.kind !== 'idempotent') {
    return acknowledged
      ? `the ${provider} had acknowledged the ${payment} and does not know it any more`
      : null;
  }
  const over = firstMs !== null && nowMs - firstMs >= (resendSafety.forMs ?? Infinity);
  return over && possibleSubmissions > 0
    ? `the ${provider} does not know the ${payment} and would not recognize a repeat any more`
    : null;
}

/** Results that prove that the provider has the instruction. */
const ARRIVED: ReadonlySet<ProviderCallResult['kind']> = new Set([
  'pending',
  'succeeded',
  'reversed',
  'mismatch',
]);

/** The facts about submissions that a result adds. */
function learn(
  progress: ExecutionProgress,
  result: ProviderCallResult,
): Pick<
  ExecutionProgress,
  'submissions' | 'possibleSubmissions' | 'firstSubmittedAtMs' | 'acknowledged'
> {
  const counts: Partial<SubmissionCounts> = 'submissions' in result ? result : {};
  return {
    submissions: counts.submissions ?? progress.submissions,
    possibleSubmissions: counts.possibleSubmissions ?? progress.possibleSubmissions,
    firstSubmittedAtMs: counts.firstSubmittedAtMs ?? progress.firstSubmittedAtMs,
    acknowledged:
      progress.acknowledged || (counts.acknowledged ?? false) || ARRIVED.has(result.kind),
  };
}
