import { isOpen, type InstructionRecord } from '../src/core/instructions/instruction.js';
import type { InstructionStore } from '../src/core/instructions/store.js';
import type {
  ProviderCallResult,
  SubmissionCounts,
} from '../src/core/instructions/workflow-contract.js';
import type { ProviderFaults } from '../src/core/providers/faults.js';
import type { PrepareAnswer } from '../src/core/providers/transfer-provider.js';
import type { Fault, ResendSafety, Trace } from '../src/core/providers/port.js';
import { logAttention } from '../src/core/supervision/attention-log.js';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import { logIds } from './log-ids.js';
import { submissionCountsOf } from './provider-result.js';

/** Pause before a submission that a fault of the provider prevents is considered again. It grows to a minute. */
const FAULT_PAUSE_MS = 1_000;

/** The faults of providers, and those of them that stop the first submissions of a record; all without `stoppedBy`. */
export type FaultRules = {
  faults?: ProviderFaults | undefined;
  stoppedBy?: readonly Fault[] | undefined;
  /** Faults that may be about one of these records alone, beside those that may be about any. */
  perhapsOfOne?: readonly Fault[] | undefined;
};

/**
 * The faults that stop the first submissions of charges and refunds. Others stop transfers alone: our balance and the codes for
 * transfers prevent no charge, and a refused request may be about one charge.
 */
export const PAYMENTS_STOPPED_BY: readonly Fault[] = ['credentials', 'environment', 'suspended'];

/**
 * The faults that stop the first submissions of what may be switched off at a provider by itself, such as virtual accounts and
 * identity checks: those of our key. `suspended` may be about this feature alone.
 */
export const FEATURES_STOPPED_BY: readonly Fault[] = ['credentials', 'environment'];

/** The parts that make a record ready for its submit permit. */
export type Preparation<R extends InstructionRecord> = FaultRules & {
  records: InstructionStore<R>;
  log: Log;
  provider: string;
  resendSafety: ResendSafety;
  /** Missing if there is nothing to prepare. */
  prepare?: ((signal: AbortSignal) => Promise<PrepareAnswer>) | undefined;
};

/** A prepared submission: the provider's name for it, if it has one. */
export type Prepared = { handle: string | null };
const NOTHING_PREPARED: Prepared = { handle: null };

/**
 * Makes a record ready for its next submit permit: no fault of the provider prevents a first submission, and the provider
 * has prepared it. Moves nothing and may be repeated. Returns a result if nothing may be submitted now; otherwise the handle that
 * the provider has given, or null, which the permit is to keep.
 */
export async function prepareSubmission<R extends InstructionRecord>(
  parts: Preparation<R>,
  record: R,
  { suppressTimeline, signal }: { suppressTimeline: boolean; signal: () => AbortSignal },
): Promise<ProviderCallResult | Prepared> {
  if (!isOpen(record)) return NOTHING_PREPARED;
  const counts = submissionCountsOf(record);
  if (counts.possibleSubmissions === 0) {
    const { stoppedBy } = parts;
    const stops = (name: string) => !stoppedBy || stoppedBy.some((each) => each === name);
    const fault = await parts.faults?.stopping(parts.provider, stops);
    if (fault) return waitForProvider(parts, record, fault.name, suppressTimeline);
  }
  if (!parts.prepare) return NOTHING_PREPARED;
  const answer = await parts.prepare(signal());
  failpoint('prepare.answered');
  await noteFaultsOf(parts, parts.provider, answer, record);
  if (answer.kind === 'ready') return { handle: answer.handle };
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
  if (kind === 'no_turn') return { kind: 'unsent', resendSafety, ...counts };
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

/** The amount that our balance at a provider has to cover, without the provider's fee. */
const amountOf = (record: InstructionRecord & { amount_minor?: bigint | null }) =>
  record.amount_minor ?? null;

/** The reason of attention of a record whose request is refused with a text that no table has. */
const REFUSED_AS_WRONG =
  'the provider refuses the request for it, for a reason that Bursar does not know';

/**
 * As `noteFaults`, of an answer about a record. A wrong request may be that of this record alone: an operator is called for it, and
 * the submissions of others stop only once several records of several tenants have met the same.
 */
export async function noteFaultsOf<R extends InstructionRecord>(
  rules: FaultRules & { records: Pick<InstructionStore<R>, 'raiseAttention'>; log: Log },
  provider: string,
  answer: Answer,
  record: InstructionRecord & { amount_minor?: bigint | null },
): Promise<void> {
  const isOfAll = rules.stoppedBy === undefined && answer.fault === 'bad_request';
  if (!rules.faults || !isOfAll) return noteFaults(rules, provider, answer, amountOf(record));
  const { tenant_id: tenantId, _id: id } = record;
  await rules.faults.reportOfOne(provider, 'bad_request', { record: id, tenant: tenantId });
  if (!(await rules.records.raiseAttention(tenantId, id, REFUSED_AS_WRONG))) return;
  logAttention(rules.log, { ...logIds({ tenantId, id }), reason: REFUSED_AS_WRONG });
}

/** An answer of a provider, of any port. */
type Answer = Trace & { kind: string; reason?: string; word?: string };

/** The faults that may be about one request or one feature alone. */
const PERHAPS_OF_ONE: ReadonlySet<Fault> = new Set(['bad_request', 'suspended']);

/**
 * Stores the fault of a whole provider that an answer reports, or a word in it that the adapter does not know. A fault that may
 * be about one request or feature alone, and that does not stop these records, is stored as a word, so that it stops no
 * transfer either.
 */
export async function noteFaults(
  { faults, stoppedBy, perhapsOfOne = [] }: FaultRules,
  provider: string,
  answer: Answer,
  amountMinor: bigint | null,
): Promise<void> {
  if (!faults) return;
  const reason = answer.kind === 'rejected_temporarily' ? answer.reason : null;
  const fault = answer.fault ?? (reason === 'float' || reason === 'suspended' ? reason : undefined);
  const needed = fault === 'float' ? amountMinor : null;
  const isOfOne = fault && (PERHAPS_OF_ONE.has(fault) || perhapsOfOne.includes(fault));
  if (fault && isOfOne && stoppedBy && !stoppedBy.includes(fault)) {
    await faults.reportWord(provider, fault);
  } else if (fault) {
    await faults.report(provider, fault, needed);
  }
  if (!fault && answer.kind === 'unknown' && answer.reason === 'unrecognized') {
    await faults.reportWord(provider, answer.word ?? 'unreadable');
  }
}
