import { cancellationSignal } from '@temporalio/activity';
import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import { describeActor } from '../src/core/audit/entry.js';
import { isOpen, type InstructionRecord } from '../src/core/instructions/instruction.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionStore } from '../src/core/instructions/store.js';
import { NotSubmitted } from '../src/core/instructions/submit-permit.js';
import { provesArrival } from '../src/core/instructions/transition.js';
import type {
  NotAttempted,
  OperatorMessage,
  ProviderActivities,
  ProviderCallResult,
  RecordRef,
  StatusReport,
  SubmitInput,
  VerifyInput,
} from '../src/core/instructions/workflow-contract.js';
import type { ResendSafety } from '../src/core/providers/transfer-provider.js';
import { logAttention } from '../src/core/supervision/attention-log.js';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import { createAnswerWriter } from './answer-writes.js';
import { createAttestation } from './attestations.js';
import { noSuch } from './errors.js';
import {
  isSuperseded,
  load,
  type InstructionHandler,
  type ProviderCalls,
} from './instruction-handler.js';
import {
  CAPABILITIES,
  instructionStores,
  type InstructionStoreDeps,
  type InstructionType,
} from './instruction-stores.js';
import { logIds } from './log-ids.js';
import { applyOutcome } from './outcomes.js';
import { noteFaultsOf, prepareSubmission, type Prepared } from './preparation.js';
import {
  isFinal,
  isRejectedTemporarily,
  notingAnswer,
  submissionCountsOf,
  toProviderCallResult,
} from './provider-result.js';

/** A submit permit expires after this: by then the workflow may have stopped waiting for the call. */
const SUBMIT_WITHIN_MS = 5_000;

/**
 * Limit of a local submission. A slow provider would hold up the workflow task that waits for it; after this the
 * outcome is unknown, and the workflow verifies.
 */
const LOCAL_WITHIN_MS = 2_000;

/** A line for the timeline; with `operator`, a command and its outcome. */
type OperatorNote = InstructionRef & { actor: string; detail: string; operator?: OperatorMessage };

/** A record with a later instruction is closed to the workflow of the earlier one. */
const SUPERSEDED = { kind: 'closed', attention: null } as const;

/** Input of the generic activities: one instruction, by its type and id. */
type InstructionRef = RecordRef & { type: InstructionType };

/** The parts that the generic activities need. */
export type InstructionActivityDeps = InstructionStoreDeps & {
  operatorActs: OperatorActs;
  log: Log;
};

/** The activities that all instructions share. The store of the record is found by the instruction's type. */
export function createInstructionActivities(deps: InstructionActivityDeps) {
  const stores = instructionStores(deps);
  return {
    /** Returns the record's present status and attention. */
    async readInstructionStatus({ type, tenantId, id }: InstructionRef): Promise<StatusReport> {
      const record = await stores[type].get(tenantId, id);
      if (!record) throw noSuch(type);
      return { status: record.status, attention: record.attention?.reason ?? null };
    },

    /** Adds an operator's command and its outcome to the timeline and the audit log. */
    async recordOperatorCommand(note: OperatorNote): Promise<void> {
      const { type, tenantId, id, actor, detail, operator } = note;
      if (!operator) return stores[type].note(tenantId, id, 'operator', actor, { detail });
      const of = { capability: CAPABILITIES[type], tenantId, id };
      const act = await deps.operatorActs.actOf(of, operator);
      const extra = { detail, internal: describeActor(act) };
      await deps.operatorActs.finish(act, { message: operator.id, result: detail }, (session) =>
        stores[type].note(tenantId, id, 'operator', 'operator', extra, session),
      );
    },

    /** Sets attention on an open record. Existing attention is kept. */
    async raiseAttention({ type, tenantId, id, reason }: InstructionRef & { reason: string }) {
      if (!(await stores[type].raiseAttention(tenantId, id, reason))) return;
      logAttention(deps.log, { ...logIds({ tenantId, id }), reason });
    },

    attestAbsence: createAttestation({ stores, operatorActs: deps.operatorActs }),

    /** Adds to the timeline that a cancellation was requested and is ignored. */
    recordCancellationRequest: ({ type, tenantId, id }: InstructionRef) =>
      stores[type].note(tenantId, id, 'note', 'temporal', {
        detail: 'a cancellation was requested in Temporal and ignored: money may be in flight',
      }),
  };
}

/** The activities that submit, verify and apply outcomes, for the records of one handler. */
export function providerActivities<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
): Required<ProviderActivities<Own>> {
  return {
    submit: (input) => submit(handler, input, cancellationSignal),
    submitLocally: (input) => submitLocally(handler, input),
    verify: (input) => verify(handler, input),
    applyOutcome: (input) => applyOutcome(handler, input),
  };
}

async function submit<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  input: SubmitInput,
  startSignal: () => AbortSignal,
): Promise<ProviderCallResult> {
  const { records } = handler;
  const { tenantId, id, suppressTimeline = false } = input;
  const write = createAnswerWriter(handler.log, input);
  const ready = await makeReady(handler, input, startSignal);
  if ('kind' in ready) return ready;
  // Taken before the permit: the time in the request must not be later than the decision to submit.
  const requestedAt = new Date();
  const began = performance.now();
  const { instruction } = handler;
  const permit = instruction === undefined ? input : { ...input, instruction };
  const record = await records.acquireSubmitPermit(permit, ready.resendSafety, ready.handle);
  if (!record) return whyPermitDenied(handler, await load(handler, { tenantId, id }), input);
  const calls = await callsOfPermit(handler, record);
  const { resendSafety = ready.resendSafety, notAfter = null } = calls ?? {};
  const isOver = notAfter !== null && notAfter <= new Date();
  const isLate = performance.now() - began > SUBMIT_WITHIN_MS || cancellationSignal().aborted;
  if (!calls || isOver || isLate) return unsent(handler, record, { resendSafety, isOver });
  failpoint('submit.permitted');
  // The time of the call itself begins here, because a slow permit must not end it before it was made.
  const said = await answerOf(handler, record, calls.submit(requestedAt, startSignal()));
  if (!said) return unsent(handler, record, { resendSafety, isOver });
  failpoint('submit.answered');
  await write(record, () => noteFaultsOf(handler, calls.provider, said, record));
  const answer = await withoutVoidHandle(handler, record, said);
  const acknowledged = isFirstAcknowledgement(record, answer);
  if (answer.result) {
    const acknowledge = () => records.acknowledge(tenantId, id, partOf(record));
    if (acknowledged) await write(record, acknowledge, true);
    return resultOf(handler, answer.result, record);
  }
  const refused = isRefusedRequest(record, answer);
  // Later questions, such as those of a comparison, need the id that a final answer names.
  const { handle } = answer;
  if (isFinal(answer) && handle !== undefined)
    await write(record, () => records.learnHandle(record, handle));
  if (!isFinal(answer) || refused) {
    const wasRejected = isRejectedTemporarily(answer) || refused;
    const extra = { wasRejected, suppressTimeline, acknowledged };
    const recordAnswer = () => records.recordAnswer(record, calls.provider, answer, extra);
    await write(record, recordAnswer, acknowledged);
  }
  const counts = submissionCountsOf(record);
  if (refused && answer.kind === 'rejected') {
    const possibleSubmissions = counts.possibleSubmissions - 1;
    const { resendSafety } = calls;
    return { kind: 'refused', code: answer.code, resendSafety, ...counts, possibleSubmissions };
  }
  return toProviderCallResult(answer, 'provider_answer', calls.resendSafety, counts);
}

/**
 * Makes a record ready for its permit. The record is read only if that may matter: it was submitted before, its provider
 * prepares submissions, or a provider has a fault.
 */
async function makeReady<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { submissions, suppressTimeline = false, batched = false, ...ref }: SubmitInput,
  signal: () => AbortSignal,
): Promise<ProviderCallResult | (Prepared & { resendSafety: ResendSafety | undefined })> {
  const { records, faults, stoppedBy, log } = handler;
  const looks = submissions > 0 || handler.prepares?.() === true || faults?.mayStop() === true;
  if (!looks) return { resendSafety: undefined, handle: null };
  const record = await load(handler, ref, { batched });
  if (isSuperseded(handler, record)) return SUPERSEDED;
  const { provider, resendSafety, prepare } = await handler.providerCallsFor(record);
  if (record.submissions !== submissions) return { resendSafety, handle: null };
  const parts = { records, log, faults, stoppedBy, provider, resendSafety, prepare };
  const prepared = await prepareSubmission(parts, record, { suppressTimeline, signal });
  return 'kind' in prepared ? prepared : { resendSafety, ...prepared };
}

/** The attempt or the instruction of a record that has several; undefined for all others. */
const partOf = ({
  attempt,
  instruction,
}: InstructionRecord & { attempt?: number; instruction?: string }) => ({ attempt, instruction });

/** True for a rejection of this request alone, while the provider may have another one. */
const isRefusedRequest = (record: InstructionRecord, answer: ProviderOutcome): boolean =>
  answer.kind === 'rejected' &&
  answer.scope === 'request' &&
  submissionCountsOf(record).possibleSubmissions > 1;

/** Forgets a handle that the provider has declared void. The second time, the provider refuses what it was made for. */
async function withoutVoidHandle<R extends InstructionRecord, Own>(
  { records }: InstructionHandler<R, Own>,
  record: R,
  answer: ProviderOutcome,
): Promise<ProviderOutcome> {
  const { tenant_id: tenantId, _id: id, handle = null, void_handles: before = 0 } = record;
  const isVoid =
    answer.kind === 'rejected_temporarily' &&
    'reason' in answer &&
    answer.reason === 'stale_handle';
  if (!isVoid || handle === null) return answer;
  await records.forgetHandle(tenantId, id, handle);
  const { providerRequestId } = answer;
  return before === 0
    ? answer
    : { kind: 'rejected', code: 'invalid_account', scope: 'request', providerRequestId };
}

/** The calls of a record that has its permit; null if what they are made of cannot be read: nothing was submitted. */
async function callsOfPermit<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  record: R,
): Promise<ProviderCalls | null> {
  try {
    return await handler.providerCallsFor(record);
  } catch (error) {
    return logUnsent(handler, record, error);
  }
}

/** The answer to a submission; null if it says itself that nothing was submitted. */
async function answerOf<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  record: R,
  submission: Promise<ProviderOutcome>,
): Promise<ProviderOutcome | null> {
  try {
    return await submission;
  } catch (error) {
    if (error instanceof NotSubmitted) return logUnsent(handler, record, error);
    throw error;
  }
}

function logUnsent<R extends InstructionRecord, Own>(
  { log }: InstructionHandler<R, Own>,
  { tenant_id: tenantId, _id: id }: R,
  error: unknown,
): null {
  log.warn(
    { err: error, ...logIds({ tenantId, id }) },
    'submission not made, its permit is returned',
  );
  return null;
}

/** Returns the permit of a submission that was not made. If that fails, the permit counts as used: verify. */
async function unsent<R extends InstructionRecord, Own>(
  { records, log }: InstructionHandler<R, Own>,
  record: R,
  { resendSafety, isOver }: { resendSafety: ResendSafety | undefined; isOver: boolean },
): Promise<ProviderCallResult> {
  const returned = await records.returnPermit(record).catch((error: unknown) => {
    const ids = logIds({ tenantId: record.tenant_id, id: record._id });
    log.warn({ err: error, ...ids }, 'could not return a submit permit');
    return null;
  });
  const counts = submissionCountsOf(returned ?? record);
  if (isOver || !returned) return { kind: 'unknown', reason: 'too_old', ...counts };
  return { kind: 'unsent', ...(resendSafety && { resendSafety }), ...counts };
}

/** True if an answer proves for the first time that the provider has the instruction. */
const isFirstAcknowledgement = (record: InstructionRecord, answer: ProviderOutcome): boolean =>
  record.acknowledged_at === null &&
  provesArrival(answer.kind) &&
  answer.result !== 'not_submitted';

async function submitLocally<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { rateLimitKey, ...input }: SubmitInput & { rateLimitKey: string },
): Promise<ProviderCallResult | NotAttempted> {
  const { batched = false } = input;
  if (handler.isSubmittedOnce?.(await load(handler, input))) return { kind: 'not_attempted' };
  const finish = handler.localSubmissions.acquire(rateLimitKey, { ownTask: !batched });
  if (!finish) return { kind: 'not_attempted' };
  const signal = () =>
    AbortSignal.any([cancellationSignal(), AbortSignal.timeout(LOCAL_WITHIN_MS)]);
  return notingAnswer(
    () => submit(handler, input, signal),
    (answered) => finish({ answered }),
  );
}

async function whyPermitDenied<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  record: R,
  { submissions }: Pick<SubmitInput, 'submissions'>,
): Promise<ProviderCallResult> {
  if (isSuperseded(handler, record)) return SUPERSEDED;
  const { records } = handler;
  const attention = record.attention?.reason ?? null;
  if (isOpen(record)) {
    const code = record.submissions === submissions ? handler.withheldFor?.(record) : null;
    if (code) return { kind: 'rejected', code, providerRequestId: null, via: 'provider_answer' };
    return record.submissions === 0 ? notSubmitted(record) : { kind: 'permit_denied', attention };
  }
  return (await isMonitored(records, record))
    ? { kind: 'permit_denied', attention }
    : { kind: 'closed', attention };
}

async function verify<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { tenantId, id, nextPollMs, acknowledged = false, evenIfClosed = false, attempt }: VerifyInput,
): Promise<ProviderCallResult> {
  const { records } = handler;
  const write = createAnswerWriter(handler.log);
  const record = await load(handler, { tenantId, id });
  if (isSuperseded(handler, record)) return SUPERSEDED;
  if (attempt !== undefined) return verifyAttempt(handler, record, attempt);
  const closed = !isOpen(record);
  if (closed && !evenIfClosed && !(await isMonitored(records, record))) {
    // A workflow that waits for an operator counts polls too, so the dispatcher does not restart it.
    if (record.attention) await records.countPoll(record, nextPollMs);
    return { kind: 'closed', attention: record.attention?.reason ?? null };
  }
  if (record.submissions === 0) return notSubmitted(record);
  const calls = await handler.providerCallsFor(record);
  failpoint('verify.before');
  const found = await calls.verify(cancellationSignal());
  failpoint('verify.answered');
  // Only a submission proves that the provider asks for confirmations: what it asked for before stays open for a while.
  const { fault: _, ...rest } = found;
  const said = found.fault === 'otp_required' ? rest : found;
  await write(record, () => noteFaultsOf(handler, calls.provider, said, record));
  const answer = await cancelAbsent(calls, record, found);
  // A final answer changes nothing on a monitored record, and is progress of its workflow all the same.
  if (closed && !evenIfClosed && isFinal(answer)) await records.countPoll(record, nextPollMs);
  if (answer.result ? answer.result !== 'not_submitted' : !isFinal(answer)) {
    const arrived = isFirstAcknowledgement(record, answer);
    const knownToRun = acknowledged && record.acknowledged_at === null;
    const isArrival = arrived || knownToRun;
    await write(record, () => records.countPoll(record, nextPollMs, isArrival), isArrival);
    // Only "not found" is added to the timeline, once: it may lead to another submission.
    const { detail, providerRequestId } = { detail: answer.kind, ...answer };
    if (detail === 'not_found' && record.timeline.at(-1)?.detail !== detail) {
      const extra = { detail, providerRequestId };
      await write(record, () => records.note(tenantId, id, 'poll', calls.provider, extra));
    }
  }
  // A monitored record is never submitted again and never raises attention, so anything but an outcome is "pending".
  if (closed && !evenIfClosed && !isFinal(answer)) return { kind: 'pending', monitored: true };
  if (answer.result) return resultOf(handler, answer.result, record);
  return toProviderCallResult(answer, 'poll', calls.resendSafety, submissionCountsOf(record));
}

/** Asks about one attempt. The answer says nothing about the present one, so it is neither a poll of it nor its arrival. */
async function verifyAttempt<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  record: R,
  attempt: number,
): Promise<ProviderCallResult> {
  const calls = await handler.providerCallsFor(record);
  const answer = await calls.verify(cancellationSignal(), attempt);
  await noteFaultsOf(handler, calls.provider, answer, record);
  if (answer.result) return resultOf(handler, answer.result, record);
  return toProviderCallResult(answer, 'poll', calls.resendSafety, submissionCountsOf(record));
}

/** Polls that a provider with a fence gets to find what was submitted, before it is cancelled. */
const POLLS_BEFORE_CANCEL = 3;

/** Cancels an instruction that its provider does not know, if a cancellation is what proves its end. */
async function cancelAbsent(
  { resendSafety, cancel }: ProviderCalls,
  record: InstructionRecord,
  answer: ProviderOutcome,
): Promise<ProviderOutcome> {
  const isAbsent = answer.kind === 'not_found' && record.acknowledged_at === null;
  const mayExist = submissionCountsOf(record).possibleSubmissions > 0;
  if (!isAbsent || !mayExist || resendSafety.kind !== 'fence' || !cancel) return answer;
  if (record.polls < POLLS_BEFORE_CANCEL) return answer;
  const cancelled = await cancel(cancellationSignal());
  failpoint('cancel.answered');
  const { providerRequestId } = cancelled;
  return cancelled.kind === 'cancelled'
    ? { kind: 'rejected', code: 'not_executed', scope: 'instruction', providerRequestId }
    : cancelled;
}

/** The result that the capability has decided already. `not_submitted` takes its counts from the record. */
async function resultOf<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  result: NonNullable<ProviderOutcome['result']>,
  { tenant_id: tenantId, _id: id }: R,
): Promise<ProviderCallResult> {
  return result === 'not_submitted' ? notSubmitted(await load(handler, { tenantId, id })) : result;
}

/** Nothing was submitted. `afterMs` is set if the next attempt may not be submitted yet. */
function notSubmitted(record: InstructionRecord): ProviderCallResult {
  const afterMs = Math.max(0, (record.next_attempt_at?.getTime() ?? 0) - Date.now());
  return { kind: 'not_submitted', ...submissionCountsOf(record), ...(afterMs > 0 && { afterMs }) };
}

/** True while the provider is polled after a forced failure. Ends monitoring whose time is over. */
async function isMonitored<R extends InstructionRecord>(
  records: InstructionStore<R>,
  record: R,
): Promise<boolean> {
  if (record.monitor_until === null) return false;
  if (record.monitor_until > new Date()) return true;
  await records.endMonitoring(record.tenant_id, record._id);
  return false;
}
