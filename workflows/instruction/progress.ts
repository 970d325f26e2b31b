import type { Absence } from '../../src/core/providers/transfer-provider.js';
import type {
  ProviderCallResult,
  FactResult,
  InstructionPolicy,
  SubmissionCounts,
} from '../../src/core/instructions/workflow-contract.js';
import type { InstructionLabels } from '../../src/core/instructions/labels.js';
import { FIRST_POLL_MS, IDLE_POLL_MS, MAX_ERRORS, MAX_SUBMISSIONS } from '../policies.js';

/** What a run knows beyond the record: how to pace itself and how far absence is proven. */
export type ExecutionProgress = {
  submissions: number;
  /** Sends that the provider may have taken. */
  possibleSubmissions: number;
  /** Tries that operators have granted beyond the bound. */
  operatorRetries: number;
  pollMs: number;
  errors: number;
  /** When the first "not found" after the last send, whoever sent it, was heard, if nothing else was heard since. */
  absentSinceMs: number | null;
};

/** When a question left us and when its answer came. */
export type CallTimes = { askedMs: number; answeredMs: number };

/** What the steps of a pursuit depend on beside what is heard. */
export type ExecutionRules = {
  policy: InstructionPolicy;
  labels: InstructionLabels;
  /** However often the order arrives, it is done once: it may go out again as soon as it is known not to be done. */
  repeatable?: boolean;
};

/** What to do next. A wait ends early when somebody wakes the workflow. */
export type Step<Own = never> =
  | { do: 'applyOutcome'; fact: FactResult<Own> }
  /** `quietly`: the last one was explicitly not taken; the timeline has that already. */
  | { do: 'submit'; afterMs: number; suppressTimeline?: boolean }
  /** `stuck`: why an operator has to be called. `closed`: the record has ended, and is looked after. */
  | { do: 'verify'; afterMs: number; stuck: string | null; closed?: boolean }
  | { do: 'end' };

export const initialProgress = (): ExecutionProgress => ({
  submissions: 0,
  possibleSubmissions: 0,
  operatorRetries: 0,
  pollMs: FIRST_POLL_MS,
  errors: 0,
  absentSinceMs: null,
});

/** An operator pushes: ask at once and often again, and one order more than the bound allows. */
export const allowOperatorRetry = (progress: ExecutionProgress): ExecutionProgress => ({
  ...progress,
  operatorRetries:
    Math.max(progress.operatorRetries, progress.possibleSubmissions - MAX_SUBMISSIONS) + 1,
  pollMs: FIRST_POLL_MS,
  errors: 0,
});

/** All that is decided about an answer, in one place and without Temporal: given what is known, what comes next? */
export function nextStep(
  progress: ExecutionProgress,
  result: ProviderCallResult,
  rules: ExecutionRules,
  asked: CallTimes,
): [ExecutionProgress, Step] {
  const { policy, labels } = rules;
  const known = knownSubmissions(result);
  const answered = { ...progress, ...known, errors: 0, absentSinceMs: null };
  switch (result.kind) {
    case 'closed':
      if (result.attention === null) return [answered, { do: 'end' }];
      // What an operator has to see keeps its workflow, so that it is found in the UI.
      return [
        answered,
        { do: 'verify', afterMs: policy.pollMaxMs, stuck: result.attention, closed: true },
      ];
    case 'succeeded':
    case 'rejected':
    case 'reversed':
    case 'operator_confirmed':
      return [answered, { do: 'applyOutcome', fact: result }];
    case 'not_submitted':
      return [answered, { do: 'submit', afterMs: result.afterMs ?? 0 }];
    case 'throttled':
    case 'rejected_temporarily': {
      const pollMs = Math.min(progress.pollMs, policy.pollMaxMs);
      const afterMs = Math.max(result.kind === 'throttled' ? result.retryAfterMs : 0, pollMs);
      return [
        { ...answered, pollMs: pollMs * 2 },
        { do: 'submit', afterMs, suppressTimeline: true },
      ];
    }
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
      const errors = progress.errors + 1;
      const counts = result.reason === 'server_error' || result.reason === 'unreadable';
      const failing = counts && errors >= MAX_ERRORS;
      const stuck = failing ? `the ${labels.provider} answers with errors` : null;
      return verifyLater({ ...answered, errors }, policy, stuck);
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

/** What was not found before somebody else sent it says nothing about that order: it may be on its way still. */
const absentSoFar = (
  progress: ExecutionProgress,
  { submissions }: SubmissionCounts,
): ExecutionProgress =>
  submissions === progress.submissions ? progress : { ...progress, absentSinceMs: null };

/** "Not found" lets the order out again only where, and as far as, this provider's word proves absence. */
function notFound(
  progress: ExecutionProgress,
  resendSafety: Absence,
  { policy, labels: { provider, payment } }: ExecutionRules,
  { askedMs, answeredMs }: CallTimes,
): [ExecutionProgress, Step] {
  if (resendSafety.kind === 'never') {
    const stuck = `the ${provider} does not know the ${payment} and cannot rule it out`;
    return verifyLater(progress, policy, stuck);
  }
  if (resendSafety.kind === 'conclusive_after') {
    // From the first answer to the second question: what happens while an answer travels proves nothing.
    const sinceMs = progress.absentSinceMs ?? answeredMs;
    if (progress.absentSinceMs === null || askedMs - sinceMs < resendSafety.ms) {
      const afterMs = Math.max(sinceMs + resendSafety.ms - answeredMs, 1);
      return [
        { ...progress, absentSinceMs: sinceMs },
        { do: 'verify', afterMs, stuck: null },
      ];
    }
  }
  if (progress.possibleSubmissions - progress.operatorRetries >= MAX_SUBMISSIONS) {
    const stuck = `the ${provider} never answers the order and does not know the ${payment}`;
    return verifyLater(progress, policy, stuck);
  }
  return [
    { ...progress, absentSinceMs: null },
    { do: 'submit', afterMs: 0 },
  ];
}

function knownSubmissions(
  result: ProviderCallResult,
): Partial<Pick<ExecutionProgress, 'submissions' | 'possibleSubmissions'>> {
  if (
    !('submissions' in result) ||
    result.submissions === undefined ||
    result.possibleSubmissions === undefined
  )
    return {};
  return { submissions: result.submissions, possibleSubmissions: result.possibleSubmissions };
}
