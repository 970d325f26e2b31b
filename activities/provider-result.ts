import type { Absence } from '../src/core/providers/transfer-provider.js';
import type { FactSource, InstructionFact } from '../src/core/instructions/fact.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionRecord } from '../src/core/instructions/instruction.js';
import type {
  ProviderCallResult,
  FactResult,
  SubmissionCounts,
} from '../src/core/instructions/workflow-contract.js';

/** The provider says itself that it took nothing. */
export const isRejectedTemporarily = ({ kind }: ProviderOutcome): boolean =>
  kind === 'throttled' || kind === 'rejected_temporarily';

/** What ends a record; everything else leaves it open. */
export const isFinal = (answer: ProviderOutcome): boolean =>
  answer.kind === 'succeeded' || answer.kind === 'rejected' || answer.kind === 'reversed';

/** Whether a report ends the record, or stands against what is booked. */
export const isFactResult = (result: ProviderCallResult): result is FactResult => 'via' in result;

export const submissionCountsOf = ({
  submissions,
  rejected_submissions: rejected,
}: InstructionRecord): SubmissionCounts => ({
  submissions,
  possibleSubmissions: submissions - rejected,
});

/** Amounts cross Temporal as integers: its payloads are JSON. */
const wireAmount = (amountMinor: bigint | null) =>
  amountMinor === null ? null : Number(amountMinor);

/** A provider's answer in the terms that may enter a history. `absence`: what its "not found" proves. */
export function toProviderCallResult(
  answer: ProviderOutcome,
  via: FactResult['via'],
  resendSafety: Absence,
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
    case 'rejected':
      return { kind: 'rejected', code: answer.code, providerRequestId, via };
    case 'pending':
      return { kind: 'pending' };
    // These were explicitly not taken.
    case 'throttled': {
      const { kind, retryAfterMs } = answer;
      return { kind, retryAfterMs, ...counts, possibleSubmissions: counts.possibleSubmissions - 1 };
    }
    case 'rejected_temporarily':
      return {
        kind: answer.kind,
        code: answer.code,
        ...counts,
        possibleSubmissions: counts.possibleSubmissions - 1,
      };
    case 'not_found':
      return { kind: 'not_found', resendSafety, ...counts };
    case 'unknown':
      return { kind: 'unknown', reason: answer.reason, ...counts };
  }
}

export function toFact(result: FactResult, origin: FactSource): InstructionFact {
  switch (result.kind) {
    case 'rejected':
      return {
        ...origin,
        kind: 'rejected',
        code: result.code,
        ...(result.ifNotSubmitted && { ifNotSubmitted: true }),
      };
    case 'operator_confirmed':
      return { ...origin, kind: 'operator_confirmed' };
    case 'succeeded':
    case 'reversed': {
      const amountMinor = result.amountMinor === null ? null : BigInt(result.amountMinor);
      return { ...origin, kind: result.kind, amountMinor, sessionId: result.sessionId };
    }
  }
}
