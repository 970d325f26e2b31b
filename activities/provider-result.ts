import type { ResendSafety } from '../src/core/providers/transfer-provider.js';
import type { FactSource, InstructionFact } from '../src/core/instructions/fact.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionRecord } from '../src/core/instructions/instruction.js';
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
      return { kind, sessionId, amountMinor, providerRequestId, via };
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
      return { ...origin, kind: result.kind, amountMinor, sessionId: result.sessionId };
    }
  }
}
