import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import type { Absence } from '../src/core/providers/transfer-provider.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionStore } from '../src/core/instructions/store.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import { isOpen, type InstructionRecord } from '../src/core/instructions/instruction.js';
import type {
  ProviderCallResult,
  FactResult,
  NotAttempted,
  InstructionActivities,
  VerifyInput,
  RecordRef,
  SubmitInput,
  ApplyOutcomeInput,
  ApplyOutcomeResult,
} from '../src/core/instructions/workflow-contract.js';
import {
  isFinal,
  isRejectedTemporarily,
  submissionCountsOf,
  toProviderCallResult,
} from './provider-result.js';

/** A permission that could not be used at once is not used: the workflow may have given this call up by then. */
const SUBMIT_WITHIN_MS = 5_000;

/** How a capability's records are kept, told to their provider, and settled. `Own`: facts of its own. */
export type InstructionHandler<R extends InstructionRecord, Own = never> = {
  /** What the record is called. */
  name: string;
  records: InstructionStore<R>;
  log: Log;
  localSubmissions: LocalSubmissionLimiter;
  /** The provider of a record, and how it is told of it and asked. */
  providerCallsFor(record: R): ProviderCalls | Promise<ProviderCalls>;
  /** Books a fact through the state guard; answers the record as it stands then, null if there is none. */
  apply(ref: RecordRef, fact: FactResult<Own>, origin: FactSource): Promise<R | null>;
};

export type ProviderCalls = {
  provider: string;
  resendSafety: Absence;
  /** Nothing is sent from then on, although it may have been permitted before. */
  notAfter?: Date | null;
  submit(requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome>;
  verify(signal: AbortSignal): Promise<ProviderOutcome>;
};

type RecordActivities = Pick<
  InstructionActivities,
  'readInstructionStatus' | 'recordOperatorCommand' | 'raiseAttention' | 'recordCancellationRequest'
>;

/** What the pursuit of a record writes, whatever it is about. */
export function recordActivities<R extends InstructionRecord>(
  handler: Pick<InstructionHandler<R>, 'name' | 'records'>,
): RecordActivities {
  const { records } = handler;
  return {
    async readInstructionStatus(ref) {
      const { status, attention } = await load(handler, ref);
      return { status, attention: attention?.reason ?? null };
    },

    recordOperatorCommand: ({ tenantId, id, actor, detail }) =>
      records.note(tenantId, id, 'operator', actor, { detail }),

    raiseAttention: ({ tenantId, id, reason }) => records.raiseAttention(tenantId, id, reason),

    recordCancellationRequest: ({ tenantId, id }) =>
      records.note(tenantId, id, 'note', 'temporal', {
        detail:
          'a cancellation was asked for in Temporal and not followed: money may be on its way',
      }),
  };
}

/** One effect each: tell or ask the provider, or write to our store. Decisions are the workflow's. */
export function instructionActivities<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
): Required<InstructionActivities<Own>> {
  return {
    ...recordActivities(handler),
    submit: (input) => submit(handler, input, cancellationSignal()),
    submitLocally: (input) => submitLocally(handler, input),
    verify: (input) => verify(handler, input),
    applyOutcome: (input) => applyOutcome(handler, input),
  };
}

async function submit<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { tenantId, id, submissions, suppressTimeline = false }: SubmitInput,
  signal: AbortSignal,
): Promise<ProviderCallResult> {
  const { records, log, name } = handler;
  // Before the permission: the order's own time must not be younger than the decision to send it.
  const requestedAt = new Date();
  const began = performance.now();
  const record = await records.acquireSubmitPermit(tenantId, id, submissions, suppressTimeline);
  if (!record) return whyPermitDenied(records, await load(handler, { tenantId, id }));
  const counts = submissionCountsOf(record);
  const calls = await handler.providerCallsFor(record);
  const over = calls.notAfter != null && calls.notAfter <= new Date();
  if (over || performance.now() - began > SUBMIT_WITHIN_MS) {
    return { kind: 'unknown', reason: 'too_old', ...counts };
  }
  failpoint('submit.permitted');
  const answer = await calls.submit(requestedAt, signal);
  failpoint('submit.answered');
  if (answer.result) return resultOf(handler, answer.result, record);
  if (!isFinal(answer)) {
    // Support reads this; a failure to write it must not turn an answer into silence.
    const extra = { wasRejected: isRejectedTemporarily(answer), suppressTimeline };
    await records
      .recordAnswer(tenantId, id, calls.provider, answer, extra)
      .catch((error: unknown) =>
        log.warn({ err: error, [name]: id }, 'could not record provider answer'),
      );
  }
  return toProviderCallResult(answer, 'provider_answer', calls.resendSafety, counts);
}

/** A queue waits for a slow provider; here a workflow's own task would. What comes later is found by asking. */
const LOCAL_WITHIN_MS = 2_000;

async function submitLocally<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { rateLimitKey, ...input }: SubmitInput & { rateLimitKey: string },
): Promise<ProviderCallResult | NotAttempted> {
  const finish = handler.localSubmissions.acquire(rateLimitKey);
  if (!finish) return { kind: 'not_attempted' };
  let result: ProviderCallResult = { kind: 'unknown', reason: 'activity_failed' };
  try {
    const signal = AbortSignal.any([cancellationSignal(), AbortSignal.timeout(LOCAL_WITHIN_MS)]);
    result = await submit(handler, input, signal);
    return result;
  } finally {
    finish({ answered: result.kind !== 'unknown' && result.kind !== 'throttled' });
  }
}

async function whyPermitDenied<R extends InstructionRecord>(
  records: InstructionStore<R>,
  present: R,
): Promise<ProviderCallResult> {
  const attention = present.attention?.reason ?? null;
  if (isOpen(present)) {
    return present.submissions === 0 ? notSubmitted(present) : { kind: 'permit_denied', attention };
  }
  return (await isMonitored(records, present))
    ? { kind: 'permit_denied', attention }
    : { kind: 'closed', attention };
}

async function verify<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { tenantId, id, nextPollMs, evenIfClosed = false }: VerifyInput,
): Promise<ProviderCallResult> {
  const { records } = handler;
  const record = await load(handler, { tenantId, id });
  const closed = !isOpen(record);
  if (closed && !evenIfClosed && !(await isMonitored(records, record))) {
    // Who waits for an operator is alive, too.
    if (record.attention) await records.countPoll(tenantId, id, nextPollMs);
    return { kind: 'closed', attention: record.attention?.reason ?? null };
  }
  if (record.submissions === 0) return notSubmitted(record);
  const calls = await handler.providerCallsFor(record);
  failpoint('verify.before');
  const answer = await calls.verify(cancellationSignal());
  failpoint('verify.answered');
  if (answer.result ? answer.result !== 'not_submitted' : !isFinal(answer)) {
    await records.countPoll(tenantId, id, nextPollMs);
    // "Pending" teaches nothing, nor does a repeat; what may end in another send belongs on the timeline.
    const { detail, providerRequestId } = { detail: answer.kind, ...answer };
    if (detail === 'not_found' && record.timeline.at(-1)?.detail !== detail) {
      await records.note(tenantId, id, 'poll', calls.provider, { detail, providerRequestId });
    }
  }
  if (answer.result) return resultOf(handler, answer.result, record);
  // What was given up is never sent again, and calls nobody, whatever the provider does not know or say.
  if (closed && !evenIfClosed && !isFinal(answer)) return { kind: 'pending', monitored: true };
  return toProviderCallResult(answer, 'poll', calls.resendSafety, submissionCountsOf(record));
}

/** What the capability has dealt with already; how an order stands that may be sent anew, the record says. */
async function resultOf<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  result: NonNullable<ProviderOutcome['result']>,
  { tenant_id: tenantId, _id: id }: R,
): Promise<ProviderCallResult> {
  return result === 'not_submitted' ? notSubmitted(await load(handler, { tenantId, id })) : result;
}

/** Nothing has left us; perhaps it may not yet. */
function notSubmitted(record: InstructionRecord): ProviderCallResult {
  const afterMs = Math.max(0, (record.next_attempt_at?.getTime() ?? 0) - Date.now());
  return { kind: 'not_submitted', ...submissionCountsOf(record), ...(afterMs > 0 && { afterMs }) };
}

async function applyOutcome<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { operator, fact, tenantId, id }: ApplyOutcomeInput<Own>,
): Promise<ApplyOutcomeResult> {
  const origin: FactSource = {
    via: operator ? 'operator' : fact.via,
    actor: operator?.actor ?? null,
    providerRequestId: fact.providerRequestId,
    note: operator?.reason ?? null,
  };
  failpoint('outcome.before');
  const record = await handler.apply({ tenantId, id }, fact, origin);
  failpoint('outcome.after');
  if (!record) throw noSuch(handler);
  const { status, attention, monitor_until: watchUntil } = record;
  return { status, attention: attention?.reason ?? null, monitored: watchUntil !== null };
}

/** Whether the provider still has to be asked about what was given up. Ends a watch whose time is over. */
async function isMonitored<R extends InstructionRecord>(
  records: InstructionStore<R>,
  record: R,
): Promise<boolean> {
  if (record.monitor_until === null) return false;
  if (record.monitor_until > new Date()) return true;
  await records.endMonitoring(record.tenant_id, record._id);
  return false;
}

/** The record as it is; one that is not there fails the activity for good. */
export async function load<R extends InstructionRecord, Own>(
  handler: Pick<InstructionHandler<R, Own>, 'name' | 'records'>,
  { tenantId, id }: RecordRef,
): Promise<R> {
  const record = await handler.records.get(tenantId, id);
  if (!record) throw noSuch(handler);
  return record;
}

const noSuch = ({ name }: { name: string }) =>
  ApplicationFailure.nonRetryable(`no such ${name}`, 'NoSuchRecord');
