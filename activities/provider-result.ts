import type { CallRates } from '../src/core/providers/call-rates.js';
import { withLastAnswer } from '../src/core/providers/observed.js';
import type { UnknownReason } from '../src/core/providers/port.js';
import type { PrepareAnswer, ResendSafety } from '../src/core/providers/transfer-provider.js';
import type { FactSource, InstructionFact } from '../src/core/instructions/fact.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionRecord } from '../src/core/instructions/instruction.js';
import type { ResolveRecipientResult } from '../src/capabilities/transfers/workflow-contract.js';
import type {
  ProviderCallResult,
  FactResult,
  SubmissionCounts,
} from '../src/core/instructions/workflow-contract.js';

/** True if the provider says explicitly that it accepted nothing. */
export const isRejectedTemporarily = ({ kind }: ProviderOutcome): boolean =>
  kind === 'throttled' || kind === 'rejected_temporarily';

/** True for an outcome that closes the record; every other answer leaves it open. */
export const isFinal = (answer: ProviderOutcome): boolean =>
  answer.kind === 'succeeded' || answer.kind === 'rejected' || answer.kind === 'reversed';

/** True for a result that is a fact: it closes the record or contradicts the ledger. */
export const isFactResult = (result: ProviderCallResult): result is FactResult => 'via' in result;

/** The record's submissions: all of them, and those that the provider may have accepted. */
export const submissionCountsOf = ({
  submissions,
  rejected_submissions: rejected,
  first_submitted_at: first,
  acknowledged_at: acknowledged,
}: InstructionRecord): SubmissionCounts => ({
  submissions,
  possibleSubmissions: submissions - rejected,
  ...(first && { firstSubmittedAtMs: first.getTime() }),
  ...(acknowledged && { acknowledged: true }),
});

/** Amounts in Temporal are JSON integers. */
const wireAmount = (amountMinor: bigint | null) =>
  amountMinor === null ? null : Number(amountMinor);

/** A provider's answer as it may enter a history. `resendSafety` says what the provider's "not found" proves. */
export function toProviderCallResult(
  answer: ProviderOutcome,
  via: FactResult['via'],
  resendSafety: ResendSafety,
  counts: SubmissionCounts,
): ProviderCallResult {
  const { providerRequestId } = answer;
  switch (answer.kind) {
    case 'succeeded':
    case 'reversed': {
      const { kind, sessionId } = answer;
      const amountMinor = wireAmount(answer.amountMinor);
      if (kind === 'reversed') return { kind, sessionId, amountMinor, providerRequestId, via };
      const feeMinor = wireAmount(answer.feeMinor ?? null);
      const fee = feeMinor === null ? {} : { feeMinor };
      const doubt = answer.unlessFailed ? { unlessFailed: true as const } : {};
      return { kind, sessionId, amountMinor, ...fee, ...doubt, providerRequestId, via };
    }
    case 'rejected': {
      const { kind, code, scope } = answer;
      return { kind, code, ...(scope === 'request' && { scope }), providerRequestId, via };
    }
    case 'pending':
      return { kind: 'pending' };
    // Explicitly not accepted: this submission does not count as possible.
    case 'throttled': {
      const { kind, retryAfterMs } = answer;
      const possibleSubmissions = counts.possibleSubmissions - 1;
      return { kind, retryAfterMs, resendSafety, ...counts, possibleSubmissions };
    }
    case 'rejected_temporarily':
      return {
        kind: answer.kind,
        code: 'reason' in answer ? answer.reason : answer.code,
        ...(answer.afterMs !== undefined && { afterMs: answer.afterMs }),
        resendSafety,
        ...counts,
        possibleSubmissions: counts.possibleSubmissions - 1,
      };
    case 'not_found':
      return { kind: 'not_found', resendSafety, ...counts };
    case 'unknown':
      return { kind: 'unknown', reason: answer.reason, ...counts };
  }
}

/** The fact of a result, with its source. Amounts become `bigint` again. */
export function toFact(result: FactResult, origin: FactSource): InstructionFact {
  switch (result.kind) {
    case 'rejected':
      return {
        ...origin,
        kind: 'rejected',
        code: result.code,
        ...(result.ifNotSubmitted && { ifNotSubmitted: true }),
        ...(result.scope && { scope: result.scope }),
      };
    case 'operator_confirmed': {
      const { amountMinor, sessionId = null } = result;
      const executed =
        amountMinor === undefined ? {} : { amountMinor: BigInt(amountMinor), sessionId };
      return { ...origin, kind: 'operator_confirmed', ...executed };
    }
    case 'succeeded':
    case 'reversed': {
      const amountMinor = result.amountMinor === null ? null : BigInt(result.amountMinor);
      const { kind, sessionId } = result;
      if (kind === 'reversed') return { ...origin, kind, amountMinor, sessionId };
      const { feeMinor, unlessFailed } = result;
      const fee = feeMinor === undefined ? {} : { feeMinor: BigInt(feeMinor) };
      const doubt = unlessFailed ? { unlessFailed } : {};
      return { ...origin, kind, amountMinor, sessionId, ...fee, ...doubt };
    }
  }
}

/** Results without a usable answer of the provider, and those that say nothing about it because it may not have been called. */
const UNUSABLE: ReadonlySet<string> = new Set<
  ProviderCallResult['kind'] | ResolveRecipientResult['kind']
>(['unknown', 'throttled', 'no_answer']);
const SILENT: ReadonlySet<string> = new Set<ProviderCallResult['kind'] | PrepareAnswer['kind']>([
  // Also the result of a submission that waits for its provider without a call.
  'rejected_temporarily',
  'closed',
  'permit_denied',
  'not_submitted',
  'unsent',
  'no_turn',
]);

/** Reasons of an unknown outcome that the provider itself has stated, so it answers. */
const STATED: ReadonlySet<string> = new Set<UnknownReason>([
  'too_old',
  'conflict',
  'mismatch',
  'unrecognized',
]);

/** Tells whether a result shows that its provider answers calls; null if it says nothing about that. */
function showsUsableAnswer(result: { kind: string; reason?: unknown }): boolean | null {
  if (SILENT.has(result.kind)) return null;
  if (result.kind === 'unknown' && STATED.has(String(result.reason))) return true;
  return !UNUSABLE.has(result.kind);
}

/**
 * Runs an activity that calls a provider, and notes whether the provider answers; null if it may not have been called. The call's
 * own answer counts, whatever the activity makes of it, also if it fails after its call: a silence is one whatever comes after it.
 * The activity's result counts only if no call of it was answered or timed out.
 */
export const notingAnswer = <T>(
  activity: () => Promise<T>,
  note: (usable: boolean | null) => void,
): Promise<T> =>
  withLastAnswer(async (lastAnswer) => {
    const result = await activity().catch((error: unknown) => {
      const answer = lastAnswer();
      note(isAnswer(answer) ? showsUsableAnswer(answer) : null);
      throw error;
    });
    const answer = lastAnswer();
    if (isAnswer(answer)) note(showsUsableAnswer(answer));
    else if (isAnswer(result)) note(showsUsableAnswer(result));
    return result;
  });

/** False for the results of activities that call no provider. */
const isAnswer = (result: unknown): result is { kind: string; reason?: unknown } =>
  typeof result === 'object' && result !== null && 'kind' in result;

/** Counts a call by its answer; one that was not made is free for another. */
export const countAnswer =
  (rates: Pick<CallRates, 'answered' | 'unused'>, rateLimitKey: string) =>
  (usable: boolean | null): void =>
    usable === null ? rates.unused(rateLimitKey) : rates.answered(rateLimitKey, usable);

/** Notes answers to questions that no queue of their provider makes, such as those of a comparison. */
export const noteAnswers =
  (rates: Pick<CallRates, 'answered'>) =>
  (rateLimitKey: string, answer: { kind: string; reason?: unknown }): void => {
    const usable = showsUsableAnswer(answer);
    if (usable !== null) rates.answered(rateLimitKey, usable);
  };
