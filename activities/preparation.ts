import { isOpen, type InstructionRecord } from '../src/core/instructions/instruction.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionStore } from '../src/core/instructions/store.js';
import type {
  ProviderCallResult,
  SubmissionCounts,
} from '../src/core/instructions/workflow-contract.js';
import type { ProviderFaults } from '../src/core/providers/faults.js';
import type { PrepareAnswer } from '../src/core/providers/transfer-provider.js';
import type { ResendSafety } from '../src/core/providers/port.js';
import { failpoint } from '../src/shared/failpoints.js';
import { submissionCountsOf } from './provider-result.js';

/** Pause before a submission that a fault of the provider prevents is considered again. It grows to a minute. */
const FAULT_PAUSE_MS = 1_000;

/** The parts that make a record ready for its submit permit. */
export type Preparation<R extends InstructionRecord> = {
  records: InstructionStore<R>;
  faults: ProviderFaults | undefined;
  provider: string;
  resendSafety: ResendSafety;
  /** Missing if there is nothing to prepare. */
  prepare?: ((signal: AbortSignal) => Promise<PrepareAnswer>) | undefined;
};

/**
 * Makes a record ready for its next submit permit: no fault of the provider prevents a first submission, and the provider
 * has prepared it. Moves nothing and may be repeated. Returns a result if nothing may be submitted now, null otherwise.
 */
export async function prepareSubmission<R extends InstructionRecord>(
  parts: Preparation<R>,
  record: R,
  { suppressTimeline, signal }: { suppressTimeline: boolean; signal: () => AbortSignal },
): Promise<ProviderCallResult | null> {
  if (!isOpen(record)) return null;
  const counts = submissionCountsOf(record);
  if (counts.possibleSubmissions === 0) {
    const fault = await parts.faults?.stopping(parts.provider);
    if (fault) return waitForProvider(parts, record, fault.name, suppressTimeline);
  }
  if (!parts.prepare) return null;
  const answer = await parts.prepare(signal());
  failpoint('prepare.answered');
  await noteFaults(parts.faults, parts.provider, answer, record);
  if (answer.kind === 'ready') {
    const { tenant_id: tenantId, _id: id } = record;
    if (answer.handle !== null) await parts.records.keepHandle(tenantId, id, answer.handle);
    return null;
  }
  return notPrepared(parts, record, answer, counts, suppressTimeline);
}

async function waitForProvider<R extends InstructionRecord>(
  { records, provider, resendSafety }: Preparation<R>,
  record: R,
  fault: string,
  suppressTimeline: boolean,
): Promise<ProviderCallResult> {
  const { tenant_id: tenantId, _id: id } = record;
  await records.postpone(tenantId, id, FAULT_PAUSE_MS);
  if (!suppressTimeline) {
    const detail = `waits for the provider: ${fault}`;
    await records.note(tenantId, id, 'note', provider, { detail });
  }
  return {
    kind: 'rejected_temporarily',
    code: fault,
    afterMs: FAULT_PAUSE_MS,
    resendSafety,
    ...submissionCountsOf(record),
  };
}

/** The result of a preparation that did not succeed. Nothing was submitted by it. */
async function notPrepared<R extends InstructionRecord>(
  { records, provider, resendSafety }: Preparation<R>,
  record: R,
  answer: Exclude<PrepareAnswer, { kind: 'ready' }>,
  counts: SubmissionCounts,
  suppressTimeline: boolean,
): Promise<ProviderCallResult> {
  const { tenant_id: tenantId, _id: id } = record;
  const { kind, providerRequestId } = answer;
  if (kind === 'rejected') {
    const { code } = answer;
    return counts.possibleSubmissions === 0
      ? { kind, code, ifNotSubmitted: true, providerRequestId, via: 'provider_answer' }
      : { kind: 'refused', code, resendSafety, ...counts };
  }
  const reason = 'reason' in answer ? answer.reason : kind;
  if (!suppressTimeline) {
    const detail = `not prepared: ${reason}`;
    await records.note(tenantId, id, 'provider_answer', provider, { detail, providerRequestId });
  }
  const common = { resendSafety, ...counts };
  if (kind === 'throttled') return { kind, retryAfterMs: answer.retryAfterMs, ...common };
  if (kind === 'unknown') return { kind: 'unsent', ...common };
  return { kind, code: answer.reason, afterMs: answer.afterMs, ...common };
}

/** Stores the fault of a whole provider that an answer reports, or a word in it that the adapter does not know. */
export async function noteFaults(
  faults: ProviderFaults | undefined,
  provider: string,
  answer: ProviderOutcome | PrepareAnswer,
  record: InstructionRecord & { amount_minor?: bigint | null },
): Promise<void> {
  if (!faults) return;
  const reason =
    answer.kind === 'rejected_temporarily' && 'reason' in answer ? answer.reason : null;
  const fault = answer.fault ?? (reason === 'float' || reason === 'suspended' ? reason : undefined);
  const needed = fault === 'float' ? (record.amount_minor ?? null) : null;
  if (fault) await faults.report(provider, fault, needed);
  if (answer.kind === 'unknown' && answer.reason === 'unrecognized') {
    await faults.reportWord(provider, answer.word ?? 'unreadable');
  }
}
