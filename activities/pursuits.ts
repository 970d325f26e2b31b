import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { failpoint } from '../src/failpoints.js';
import type { Log } from '../src/log.js';
import type { Absence } from '../src/providers/provider.js';
import type { FirstTries } from '../src/pursuits/first-try.js';
import type { Heard } from '../src/pursuits/heard.js';
import type { PursuedRecords } from '../src/pursuits/store.js';
import type { FactOrigin } from '../src/pursuits/facts.js';
import { isOpen, type PursuedRecord } from '../src/pursuits/record.js';
import type {
  CallReport,
  FactReport,
  NotTried,
  PursuitActivities,
  Question,
  RecordRef,
  SendOrder,
  Settlement,
  SettleReport,
} from '../src/pursuits/reports.js';
import { isFinal, isNotTaken, sendsOf, toReport } from './reports.js';

/** A permission that could not be used at once is not used: the workflow may have given this call up by then. */
const SEND_WITHIN_MS = 5_000;

/** How a capability's records are kept, told to their provider, and settled. `Own`: facts of its own. */
export type Pursued<R extends PursuedRecord, Own = never> = {
  /** What the record is called. */
  name: string;
  records: PursuedRecords<R>;
  log: Log;
  firstTries: FirstTries;
  /** The provider of a record, and how it is told of it and asked. */
  callsFor(record: R): ProviderCalls | Promise<ProviderCalls>;
  /** Books a fact through the state guard; answers the record as it stands then, null if there is none. */
  apply(ref: RecordRef, fact: FactReport<Own>, origin: FactOrigin): Promise<R | null>;
};

export type ProviderCalls = {
  provider: string;
  absence: Absence;
  /** Nothing is sent from then on, although it may have been permitted before. */
  notAfter?: Date | null;
  send(requestedAt: Date, signal: AbortSignal): Promise<Heard>;
  verify(signal: AbortSignal): Promise<Heard>;
};

type RecordActivities = Pick<
  PursuitActivities,
  'readStanding' | 'noteOperator' | 'raiseAttention' | 'noteCancellation'
>;

/** What the pursuit of a record writes, whatever it is about. */
export function recordActivities<R extends PursuedRecord>(
  pursued: Pick<Pursued<R>, 'name' | 'records'>,
): RecordActivities {
  const { records } = pursued;
  return {
    async readStanding(ref) {
      const { status, attention } = await load(pursued, ref);
      return { status, attention: attention?.reason ?? null };
    },

    noteOperator: ({ tenant, id, actor, detail }) =>
      records.note(tenant, id, 'operator', actor, { detail }),

    raiseAttention: ({ tenant, id, reason }) => records.raiseAttention(tenant, id, reason),

    noteCancellation: ({ tenant, id }) =>
      records.note(tenant, id, 'note', 'temporal', {
        detail:
          'a cancellation was asked for in Temporal and not followed: money may be on its way',
      }),
  };
}

/** One effect each: tell or ask the provider, or write to our store. Decisions are the workflow's. */
export function pursuitActivities<R extends PursuedRecord, Own>(
  pursued: Pursued<R, Own>,
): Required<PursuitActivities<Own>> {
  return {
    ...recordActivities(pursued),
    send: (order) => send(pursued, order, cancellationSignal()),
    sendHere: (order) => sendHere(pursued, order),
    verify: (question) => verify(pursued, question),
    settle: (settlement) => settle(pursued, settlement),
  };
}

async function send<R extends PursuedRecord, Own>(
  pursued: Pursued<R, Own>,
  { tenant, id, sends, quietly = false }: SendOrder,
  signal: AbortSignal,
): Promise<CallReport> {
  const { records, log, name } = pursued;
  // Before the permission: the order's own time must not be younger than the decision to send it.
  const requestedAt = new Date();
  const began = performance.now();
  const record = await records.permitSend(tenant, id, sends, quietly);
  if (!record) return whyNotPermitted(records, await load(pursued, { tenant, id }));
  const sent = sendsOf(record);
  const calls = await pursued.callsFor(record);
  const over = calls.notAfter != null && calls.notAfter <= new Date();
  if (over || performance.now() - began > SEND_WITHIN_MS) {
    return { kind: 'unknown', reason: 'too_old', ...sent };
  }
  failpoint('send.permitted');
  const answer = await calls.send(requestedAt, signal);
  failpoint('send.answered');
  if (answer.report) return reported(pursued, answer.report, record);
  if (!isFinal(answer)) {
    // Support reads this; a failure to write it must not turn an answer into silence.
    const extra = { notTaken: isNotTaken(answer), quietly };
    await records
      .noteAnswer(tenant, id, calls.provider, answer, extra)
      .catch((error: unknown) => log.warn({ err: error, [name]: id }, 'answer not noted'));
  }
  return toReport(answer, 'provider_answer', calls.absence, sent);
}

/** A queue waits for a slow provider; here a workflow's own task would. What comes later is found by asking. */
const HERE_WITHIN_MS = 2_000;

async function sendHere<R extends PursuedRecord, Own>(
  pursued: Pursued<R, Own>,
  { provider, ...order }: SendOrder & { provider: string },
): Promise<CallReport | NotTried> {
  const leave = pursued.firstTries.enter(provider);
  if (!leave) return { kind: 'not_tried' };
  let report: CallReport = { kind: 'unknown', reason: 'activity_failed' };
  try {
    const signal = AbortSignal.any([cancellationSignal(), AbortSignal.timeout(HERE_WITHIN_MS)]);
    report = await send(pursued, order, signal);
    return report;
  } finally {
    leave({ answered: report.kind !== 'unknown' && report.kind !== 'throttled' });
  }
}

async function whyNotPermitted<R extends PursuedRecord>(
  records: PursuedRecords<R>,
  present: R,
): Promise<CallReport> {
  const attention = present.attention?.reason ?? null;
  if (isOpen(present)) {
    return present.sends === 0 ? unsent(present) : { kind: 'not_permitted', attention };
  }
  return (await isWatched(records, present))
    ? { kind: 'not_permitted', attention }
    : { kind: 'closed', attention };
}

async function verify<R extends PursuedRecord, Own>(
  pursued: Pursued<R, Own>,
  { tenant, id, nextPollMs, anyway = false }: Question,
): Promise<CallReport> {
  const { records } = pursued;
  const record = await load(pursued, { tenant, id });
  const closed = !isOpen(record);
  if (closed && !anyway && !(await isWatched(records, record))) {
    // Who waits for an operator is alive, too.
    if (record.attention) await records.countPoll(tenant, id, nextPollMs);
    return { kind: 'closed', attention: record.attention?.reason ?? null };
  }
  if (record.sends === 0) return unsent(record);
  const calls = await pursued.callsFor(record);
  failpoint('verify.before');
  const answer = await calls.verify(cancellationSignal());
  failpoint('verify.answered');
  if (answer.report ? answer.report !== 'unsent' : !isFinal(answer)) {
    await records.countPoll(tenant, id, nextPollMs);
    // "Pending" teaches nothing, nor does a repeat; what may end in another send belongs on the timeline.
    const { detail, providerRequestId } = { detail: answer.kind, ...answer };
    if (detail === 'not_found' && record.timeline.at(-1)?.detail !== detail) {
      await records.note(tenant, id, 'poll', calls.provider, { detail, providerRequestId });
    }
  }
  if (answer.report) return reported(pursued, answer.report, record);
  // What was given up is never sent again, and calls nobody, whatever the provider does not know or say.
  if (closed && !anyway && !isFinal(answer)) return { kind: 'pending', watched: true };
  return toReport(answer, 'poll', calls.absence, sendsOf(record));
}

/** What the capability has dealt with already; how an order stands that may be sent anew, the record says. */
async function reported<R extends PursuedRecord, Own>(
  pursued: Pursued<R, Own>,
  report: NonNullable<Heard['report']>,
  { tenant, _id: id }: R,
): Promise<CallReport> {
  return report === 'unsent' ? unsent(await load(pursued, { tenant, id })) : report;
}

/** Nothing has left us; perhaps it may not yet. */
function unsent(record: PursuedRecord): CallReport {
  const afterMs = Math.max(0, (record.next_attempt_at?.getTime() ?? 0) - Date.now());
  return { kind: 'unsent', ...sendsOf(record), ...(afterMs > 0 && { afterMs }) };
}

async function settle<R extends PursuedRecord, Own>(
  pursued: Pursued<R, Own>,
  { operator, fact, tenant, id }: Settlement<Own>,
): Promise<SettleReport> {
  const origin: FactOrigin = {
    via: operator ? 'operator' : fact.via,
    actor: operator?.actor ?? null,
    providerRequestId: fact.providerRequestId,
    note: operator?.reason ?? null,
  };
  failpoint('settle.before');
  const settled = await pursued.apply({ tenant, id }, fact, origin);
  failpoint('settle.after');
  if (!settled) throw noSuch(pursued);
  const { status, attention, watch_until: watchUntil } = settled;
  return { status, attention: attention?.reason ?? null, watched: watchUntil !== null };
}

/** Whether the provider still has to be asked about what was given up. Ends a watch whose time is over. */
async function isWatched<R extends PursuedRecord>(
  records: PursuedRecords<R>,
  record: R,
): Promise<boolean> {
  if (record.watch_until === null) return false;
  if (record.watch_until > new Date()) return true;
  await records.endWatch(record.tenant, record._id);
  return false;
}

/** The record as it is; one that is not there fails the activity for good. */
export async function load<R extends PursuedRecord, Own>(
  pursued: Pick<Pursued<R, Own>, 'name' | 'records'>,
  { tenant, id }: RecordRef,
): Promise<R> {
  const record = await pursued.records.get(tenant, id);
  if (!record) throw noSuch(pursued);
  return record;
}

const noSuch = ({ name }: { name: string }) =>
  ApplicationFailure.nonRetryable(`no such ${name}`, 'NoSuchRecord');
