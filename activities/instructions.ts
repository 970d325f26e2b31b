import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { BillPayment } from '../src/capabilities/bill-payments/bill-payment.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import type { Charge } from '../src/capabilities/charges/charge.js';
import type { IdentityCheck } from '../src/capabilities/identity-checks/identity-check.js';
import type { Refund } from '../src/capabilities/refunds/refund.js';
import type { Transfer } from '../src/capabilities/transfers/transfer.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import { isOpen, type InstructionRecord } from '../src/core/instructions/instruction.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { ProviderOutcome } from '../src/core/instructions/provider-outcome.js';
import type { InstructionStore } from '../src/core/instructions/store.js';
import type {
  ApplyOutcomeInput,
  ApplyOutcomeResult,
  FactResult,
  NotAttempted,
  ProviderActivities,
  ProviderCallResult,
  RecordRef,
  StatusReport,
  SubmitInput,
  VerifyInput,
} from '../src/core/instructions/workflow-contract.js';
import { provesArrival } from '../src/core/instructions/transition.js';
import type { ResendSafety } from '../src/core/providers/transfer-provider.js';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import {
  isFinal,
  isRejectedTemporarily,
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

/** The store of each type of instruction. The types are workflow types and stay in histories. */
type InstructionStores = {
  transfer: InstructionStore<Transfer>;
  charge: InstructionStore<Charge>;
  refund: InstructionStore<Refund>;
  identityCheck: InstructionStore<IdentityCheck>;
  billPayment: InstructionStore<BillPayment>;
  cardIssuance: InstructionStore<CardOperation>;
  cardState: InstructionStore<CardOperation>;
  cardFunding: InstructionStore<CardOperation>;
  cardUnload: InstructionStore<CardOperation>;
};

/** Type of an instruction: the type of the workflow that executes it. */
export type InstructionType = keyof InstructionStores;

/** Input of the generic activities: one instruction, by its type and id. */
type InstructionRef = RecordRef & { type: InstructionType };

/** Stores of all instructions, by their collection. */
export type InstructionActivityDeps = {
  transfers: { store: InstructionStores['transfer'] };
  charges: { store: InstructionStores['charge'] };
  refunds: { store: InstructionStores['refund'] };
  identityChecks: { store: InstructionStores['identityCheck'] };
  billPayments: { store: InstructionStores['billPayment'] };
  cards: { operations: InstructionStores['cardFunding'] };
};

/** The four activities that all instructions share. The store of the record is found by the instruction's type. */
export function createInstructionActivities(deps: InstructionActivityDeps) {
  const { operations } = deps.cards;
  const stores: InstructionStores = {
    transfer: deps.transfers.store,
    charge: deps.charges.store,
    refund: deps.refunds.store,
    identityCheck: deps.identityChecks.store,
    billPayment: deps.billPayments.store,
    cardIssuance: operations,
    cardState: operations,
    cardFunding: operations,
    cardUnload: operations,
  };
  return {
    /** Returns the record's present status and attention. */
    async readInstructionStatus({ type, tenantId, id }: InstructionRef): Promise<StatusReport> {
      const record = await stores[type].get(tenantId, id);
      if (!record) throw noSuch(type);
      return { status: record.status, attention: record.attention?.reason ?? null };
    },

    /** Adds an operator's command and its outcome to the timeline. */
    recordOperatorCommand: (note: InstructionRef & { actor: string; detail: string }) => {
      const { type, tenantId, id, actor, detail } = note;
      return stores[type].note(tenantId, id, 'operator', actor, { detail });
    },

    /** Sets attention on an open record. Existing attention is kept. */
    raiseAttention: ({ type, tenantId, id, reason }: InstructionRef & { reason: string }) =>
      stores[type].raiseAttention(tenantId, id, reason),

    /** Adds to the timeline that a cancellation was requested and is ignored. */
    recordCancellationRequest: ({ type, tenantId, id }: InstructionRef) =>
      stores[type].note(tenantId, id, 'note', 'temporal', {
        detail: 'a cancellation was requested in Temporal and ignored: money may be in flight',
      }),
  };
}

/** A capability's part of the activities of its instructions. `Own`: kinds of facts that only it has. */
export type InstructionHandler<R extends InstructionRecord, Own = never> = {
  /** Name of the record in logs and failures. */
  name: string;
  records: InstructionStore<R>;
  log: Log;
  localSubmissions: LocalSubmissionLimiter;
  /** Returns how this record is submitted to its provider, and verified there. */
  providerCallsFor(record: R): ProviderCalls | Promise<ProviderCalls>;
  /** Commits a fact. Returns the record after it, or null if there is no such record. */
  apply(ref: RecordRef, fact: FactResult<Own>, source: FactSource): Promise<R | null>;
};

/** The provider of one record and the calls that submit and verify it. */
export type ProviderCalls = {
  provider: string;
  resendSafety: ResendSafety;
  /** Nothing is submitted after this time, even with a permit. */
  notAfter?: Date | null;
  submit(requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome>;
  verify(signal: AbortSignal): Promise<ProviderOutcome>;
};

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
  { tenantId, id, submissions, suppressTimeline = false }: SubmitInput,
  startSignal: () => AbortSignal,
): Promise<ProviderCallResult> {
  const { records, log, name } = handler;
  // Taken before the permit: the time in the request must not be later than the decision to submit.
  const requestedAt = new Date();
  const began = performance.now();
  const safety = submissions > 0 ? await resendSafetyOf(handler, { tenantId, id }) : undefined;
  const record = await records.acquireSubmitPermit(
    tenantId,
    id,
    submissions,
    suppressTimeline,
    safety,
  );
  if (!record) return whyPermitDenied(records, await load(handler, { tenantId, id }));
  const calls = await handler.providerCallsFor(record);
  const isOver = calls.notAfter != null && calls.notAfter <= new Date();
  const isLate = performance.now() - began > SUBMIT_WITHIN_MS || cancellationSignal().aborted;
  if (isOver || isLate) return unsent(handler, record, { calls, isOver });
  failpoint('submit.permitted');
  // The time of the call itself begins here, because a slow permit must not end it before it was made.
  const answer = await calls.submit(requestedAt, startSignal());
  failpoint('submit.answered');
  const acknowledged = isFirstAcknowledgement(record, answer);
  if (answer.result) {
    if (acknowledged) await records.acknowledge(tenantId, id);
    return resultOf(handler, answer.result, record);
  }
  if (!isFinal(answer)) {
    // If this write fails, the provider's answer still counts: the run remembers an acknowledgement and stores it later.
    const extra = { wasRejected: isRejectedTemporarily(answer), suppressTimeline, acknowledged };
    await records
      .recordAnswer(tenantId, id, calls.provider, answer, extra)
      .catch((error: unknown) =>
        log.warn({ err: error, [name]: id }, 'could not record provider answer'),
      );
  }
  const counts = submissionCountsOf(record);
  return toProviderCallResult(answer, 'provider_answer', calls.resendSafety, counts);
}

/** Returns the permit of a submission that was not made. If that fails, the permit counts as used: verify. */
async function unsent<R extends InstructionRecord, Own>(
  { records, log, name }: InstructionHandler<R, Own>,
  record: R,
  { calls, isOver }: { calls: ProviderCalls; isOver: boolean },
): Promise<ProviderCallResult> {
  const returned = await records.returnPermit(record).catch((error: unknown) => {
    log.warn({ err: error, [name]: record._id }, 'could not return a submit permit');
    return null;
  });
  const counts = submissionCountsOf(returned ?? record);
  if (isOver || !returned) return { kind: 'unknown', reason: 'too_old', ...counts };
  return { kind: 'unsent', resendSafety: calls.resendSafety, ...counts };
}

async function resendSafetyOf<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  ref: RecordRef,
): Promise<ResendSafety> {
  return (await handler.providerCallsFor(await load(handler, ref))).resendSafety;
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
  const finish = handler.localSubmissions.acquire(rateLimitKey);
  if (!finish) return { kind: 'not_attempted' };
  let result: ProviderCallResult = { kind: 'unknown', reason: 'activity_failed' };
  try {
    result = await submit(handler, input, () =>
      AbortSignal.any([cancellationSignal(), AbortSignal.timeout(LOCAL_WITHIN_MS)]),
    );
    return result;
  } finally {
    finish({ answered: result.kind !== 'unknown' && result.kind !== 'throttled' });
  }
}

async function whyPermitDenied<R extends InstructionRecord>(
  records: InstructionStore<R>,
  record: R,
): Promise<ProviderCallResult> {
  const attention = record.attention?.reason ?? null;
  if (isOpen(record)) {
    return record.submissions === 0 ? notSubmitted(record) : { kind: 'permit_denied', attention };
  }
  return (await isMonitored(records, record))
    ? { kind: 'permit_denied', attention }
    : { kind: 'closed', attention };
}

async function verify<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { tenantId, id, nextPollMs, acknowledged = false, evenIfClosed = false }: VerifyInput,
): Promise<ProviderCallResult> {
  const { records } = handler;
  const record = await load(handler, { tenantId, id });
  const closed = !isOpen(record);
  if (closed && !evenIfClosed && !(await isMonitored(records, record))) {
    // A workflow that waits for an operator counts polls too, so the dispatcher does not restart it.
    if (record.attention) await records.countPoll(tenantId, id, nextPollMs);
    return { kind: 'closed', attention: record.attention?.reason ?? null };
  }
  if (record.submissions === 0) return notSubmitted(record);
  const calls = await handler.providerCallsFor(record);
  failpoint('verify.before');
  const answer = await calls.verify(cancellationSignal());
  failpoint('verify.answered');
  if (answer.result ? answer.result !== 'not_submitted' : !isFinal(answer)) {
    const arrived = isFirstAcknowledgement(record, answer);
    const knownToRun = acknowledged && record.acknowledged_at === null;
    await records.countPoll(tenantId, id, nextPollMs, arrived || knownToRun);
    // Only "not found" is added to the timeline, once: it may lead to another submission.
    const { detail, providerRequestId } = { detail: answer.kind, ...answer };
    if (detail === 'not_found' && record.timeline.at(-1)?.detail !== detail) {
      await records.note(tenantId, id, 'poll', calls.provider, { detail, providerRequestId });
    }
  }
  if (answer.result) return resultOf(handler, answer.result, record);
  // A monitored record is never submitted again and never raises attention, so anything but an outcome is "pending".
  if (closed && !evenIfClosed && !isFinal(answer)) return { kind: 'pending', monitored: true };
  return toProviderCallResult(answer, 'poll', calls.resendSafety, submissionCountsOf(record));
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

async function applyOutcome<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { operator, fact, tenantId, id }: ApplyOutcomeInput<Own>,
): Promise<ApplyOutcomeResult> {
  const source: FactSource = {
    via: operator ? 'operator' : fact.via,
    actor: operator?.actor ?? null,
    providerRequestId: fact.providerRequestId,
    note: operator?.reason ?? null,
  };
  failpoint('outcome.before');
  const record = await handler.apply({ tenantId, id }, fact, source);
  failpoint('outcome.after');
  if (!record) throw noSuch(handler.name);
  const { status, attention, monitor_until: monitorUntil } = record;
  return { status, attention: attention?.reason ?? null, monitored: monitorUntil !== null };
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

/** Returns the record. If there is none, the activity fails and is not retried. */
export async function load<R extends InstructionRecord, Own>(
  handler: Pick<InstructionHandler<R, Own>, 'name' | 'records'>,
  { tenantId, id }: RecordRef,
): Promise<R> {
  const record = await handler.records.get(tenantId, id);
  if (!record) throw noSuch(handler.name);
  return record;
}

const noSuch = (name: string) => ApplicationFailure.nonRetryable(`no such ${name}`, 'NoSuchRecord');
