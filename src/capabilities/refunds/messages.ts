import { readAll } from '../../core/providers/pages.js';
import type {
  PaymentProvider,
  Refund as ProviderRefund,
} from '../../core/providers/payment-provider.js';
import {
  applied,
  NOTHING_TO_APPLY,
  unknownReference,
  type Applied,
  type OpenFact,
} from '../../core/provider-events/handler.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import { DAY_MS } from '../../shared/durations.js';
import { isId } from '../../shared/ids.js';
import type { Charges } from '../charges/index.js';
import { readAttempt, type Charge } from '../charges/record.js';
import { deskRefundId, type Refund } from './record.js';
import type { Refunds } from './store.js';

/** The parts that reports about refunds are applied with. */
export type ReportDeps = {
  charges: {
    store: Pick<Charges, 'find'>;
    starter: { notifyChangedSoon(charge: Pick<Charge, '_id'>): void };
  };
  refunds: {
    store: Pick<
      Refunds,
      | 'find'
      | 'byProviderId'
      | 'openOf'
      | 'recordDeskRefund'
      | 'refuseDeskRefund'
      | 'noteUnnamedRefusal'
      | 'forgetUnnamedRefusal'
      | 'hasCompleted'
    >;
    starter: Pick<WorkflowStarter<Refund>, 'notifyChangedSoon'>;
  };
  providers: { payment(name: string): Pick<PaymentProvider, 'findRefunds'> };
};

/** A refund as a provider reports it, in an event or in its list. */
export type Report = Pick<ProviderRefund, 'id' | 'amountMinor' | 'currency' | 'state' | 'code'>;

/** Applies a report to the record that it is about. */
type ApplyReport = (refund: Refund, report: Report, event: ProviderEvent) => Promise<Applied>;

const FINAL: ReadonlySet<string> = new Set(['succeeded', 'returned', 'rejected']);
const FAILED: ReadonlySet<string> = new Set(['returned', 'rejected']);
/** Bound of one look-up, below that of the local activity which makes it (`ownStore`); the event is tried again after it. */
export const READ_WITHIN_MS = 10_000;
/** A list may be this old, so that reports which come together share one. It is less than the pause before a second look. */
const SHARED_MS = 900;
/** A refund is reported within days of its request. A list that begins so long before the report has it, also of an old charge. */
const REQUESTED_WITHIN_MS = 90 * DAY_MS;
/** Equal messages received within one second of the clock are one event. */
const SECOND_MS = 1_000;

/**
 * Creates the function that applies a report without a note of ours. A provider may leave out the note, its own id of the
 * refund, and the dispute whose money it is, so such a report says nothing about who made the refund. It has the provider's
 * list read, and the list alone is booked: a refund of ours there is applied to its record, one of the desk becomes a refund
 * here, and the money of a dispute is booked under the dispute.
 *
 * The process that has received the report reads no list: a list has the refunds of all charges, and a worker reads it soon.
 */
export const createUnmarkedReports = (deps: ReportDeps, applyReport: ApplyReport) =>
  async function applyUnmarked(stored: OpenFact, event: ProviderEvent): Promise<Applied> {
    const { charges, refunds } = deps;
    const { state } = stored;
    const isFinal = FINAL.has(state.kind);
    const attempt = readAttempt(String(state['charge']));
    const charge = attempt && (await charges.store.find(attempt.id));
    const isOurs = charge?.provider === event.provider && charge.currency === state['currency'];
    if (!charge || !isOurs) {
      return isFinal ? unknownReference(state.kind !== 'rejected') : NOTHING_TO_APPLY;
    }
    // It may be about one of these, whose workflow asks the provider.
    for (const open of await refunds.store.openOf(charge)) refunds.starter.notifyChangedSoon(open);
    if (!isFinal) return NOTHING_TO_APPLY;
    if (isJustReceived(event)) return listNotRead;
    const listed = await readList(deps, charge, stored, event);
    if (listed === null) return listNotRead;
    const meant = listed.filter((each) => mayBe(each, stored));
    const isExplained = meant.some((each) => explains(each, state.kind));
    if (isExplained) await forgetRefusal(deps, charge, noteOf(stored, event));
    const results: Applied[] = [];
    for (const each of meant) {
      results.push(await applyListed(deps, { charge, attempt, listed: each }, event, applyReport));
    }
    const unknown = results.find(({ kind }) => kind === 'unknown');
    if (unknown) return unknown;
    if (!isExplained) return unexplained(deps, charge, stored, event);
    return explained(results, stored, event);
  };

/** True in the process that has received the event. Later attempts are made by workers. */
export const isJustReceived = ({ status, attempt_count: attempts }: ProviderEvent): boolean =>
  status === 'received' && attempts === 0;

/** The result of an attempt that has read no list. The next one takes any list that has begun since the report. */
export const listNotRead = {
  kind: 'unknown',
  reason: 'list_not_read',
  ends: 'failed',
} as const satisfies Applied;

/** The outcome of a list that explains the report by refunds which are known here already. */
const EXPLAINED_ALREADY = 'explained_by_known_refund';
/** Outcomes of a refund that was not known here before. */
const NEWS: ReadonlySet<string> = new Set(['recorded', 'applied']);

/**
 * The result of a report that the list explains. If it names no refund and everything that could be meant is known already, the
 * list is read once more, later: the refund that is meant may be another one of the same amount, which it does not have yet.
 */
function explained(
  results: readonly Applied[],
  { state }: OpenFact,
  event: ProviderEvent,
): Applied {
  const outcomes = new Set(results.map((each) => (each.kind === 'applied' ? each.outcome : '')));
  const isNews = [...outcomes].some((each) => NEWS.has(each));
  if (isNews || state['refund'] !== null || event.result === EXPLAINED_ALREADY) {
    return applied([...outcomes].join(', '));
  }
  return { kind: 'unknown', reason: EXPLAINED_ALREADY, ends: 'processed' };
}

/** The key of the note of an unnamed failure: repeats of its message, each an event of its own, are noted once. */
const noteOf = ({ state }: OpenFact, { _id: id }: ProviderEvent): string =>
  (state['repeat_key'] as string | null | undefined) ?? id;

/** Takes back the note of an earlier attempt, at which the list did not have the failed refund. */
async function forgetRefusal(
  { refunds: { store } }: ReportDeps,
  charge: Charge,
  note: string,
): Promise<void> {
  const isNoted = charge.unnamed_refusals?.some((each) => each.event === note);
  if (isNoted) await store.forgetUnnamedRefusal(charge, note);
}

/**
 * The earliest beginning of a list that has the refund of the report. An equal message of another refund, within the same second,
 * is taken for a repeat, so the list must have the refunds of that whole second.
 */
function listedSince({ state }: OpenFact, { received_at: receivedAt }: ProviderEvent): number {
  const receivedMs = receivedAt.getTime();
  const hasEquals = state['repeat_key'] != null;
  return hasEquals ? (Math.floor(receivedMs / SECOND_MS) + 1) * SECOND_MS : receivedMs;
}

/** The provider's refunds of the charge; null without an answer. */
async function readList(
  { providers }: ReportDeps,
  charge: Charge,
  stored: OpenFact,
  event: ProviderEvent,
): Promise<ProviderRefund[] | null> {
  const reference = String(stored.state['charge']);
  const { findRefunds } = providers.payment(charge.provider);
  const signal = AbortSignal.timeout(READ_WITHIN_MS);
  const reportedMs = listedSince(stored, event);
  const isFirstLook = event.result === listNotRead.reason;
  const newEnough = new Date(
    isFirstLook ? reportedMs : Math.max(reportedMs, Date.now() - SHARED_MS),
  );
  const earliest = new Date(event.received_at.getTime() - REQUESTED_WITHIN_MS);
  const since = earliest > charge.created_at ? earliest : charge.created_at;
  const about = { reference, handle: charge.handle, since, newEnough };
  const answer = await readAll((cursor) => findRefunds({ ...about, cursor }, signal));
  if (answer.kind !== 'all') return null;
  return answer.items.filter((each) => each.charge.reference === reference);
}

/** True for a refund that the report may be about: the one that it names, or each of its amount if it names none. */
function mayBe({ id, amountMinor, currency }: ProviderRefund, { state }: OpenFact): boolean {
  const named = state['refund'] as string | null;
  if (named !== null) return id === named;
  return amountMinor === state['amount_minor'] && currency === state['currency'];
}

/** True if the list is not behind the report. */
const explains = ({ state }: ProviderRefund, reported: string): boolean =>
  FAILED.has(reported) ? FAILED.has(state) : FINAL.has(state);

/** Applies a refund of the list to its record here, or records it if it was made at the provider's desk. */
async function applyListed(
  { charges, refunds }: ReportDeps,
  {
    charge,
    attempt,
    listed,
  }: { charge: Charge; attempt: { attempt: number }; listed: ProviderRefund },
  event: ProviderEvent,
  applyReport: ApplyReport,
): Promise<Applied> {
  const { id, marker, amountMinor, state, dispute } = listed;
  if (dispute !== null) return NOTHING_TO_APPLY;
  const { store } = refunds;
  const isMarked = marker !== null && isId('refund', marker);
  const byId = id === null ? null : await store.byProviderId(charge, id);
  const known = byId ?? (isMarked ? await store.find(marker) : null);
  if (!FINAL.has(state)) {
    // The report may be about this one, whose end the list does not have yet.
    return known ? NOTHING_TO_APPLY : unknownReference(true);
  }
  if (known) {
    const isOfCharge = known.charge_id === charge._id;
    return isOfCharge ? applyReport(known, listed, event) : unknownReference(true);
  }
  if (id === null || isMarked) return unknownReference(true);
  if (state === 'succeeded') {
    const made = { attempt: attempt.attempt, providerRefundId: id, amountMinor };
    const result = await store.recordDeskRefund(charge, made);
    // A charge whose payment was returned from suspense fails.
    charges.starter.notifyChangedSoon(charge);
    return result === 'unknown' ? unknownReference(true) : applied(result);
  }
  return refuse(
    store,
    { charge, listed, id: deskRefundId(charge.provider, id) },
    event,
    applyReport,
  );
}

/**
 * Applies the failure of a refund from the desk. One that is not recorded was never made, and is noted. One that was taken from
 * suspense has no record to return to.
 */
async function refuse(
  store: ReportDeps['refunds']['store'],
  { charge, listed, id }: { charge: Charge; listed: ProviderRefund; id: string },
  event: ProviderEvent,
  applyReport: ApplyReport,
): Promise<Applied> {
  if (listed.state === 'returned') return unknownReference(true);
  const result = await store.refuseDeskRefund(charge, id);
  if (result === 'refused') return NOTHING_TO_APPLY;
  const made = result === 'made' ? await store.find(id) : null;
  return made ? applyReport(made, listed, event) : unknownReference(true);
}

/** The list does not have what is reported: it is read again later, and an operator is called if money may have moved. */
async function unexplained(
  { refunds: { store } }: ReportDeps,
  charge: Charge,
  stored: OpenFact,
  event: ProviderEvent,
): Promise<Applied> {
  const { state } = stored;
  if (state.kind !== 'rejected') return unknownReference(true);
  const amountMinor = (state['amount_minor'] as bigint | null) ?? 0n;
  const mayConcern =
    charge.returned_refunds.length > 0 || (await store.hasCompleted(charge, amountMinor));
  // If its refund is recorded after the last try of this event, an operator is called then.
  if (!mayConcern) {
    await store.noteUnnamedRefusal(charge, { event: noteOf(stored, event), amountMinor });
  }
  return unknownReference(mayConcern);
}
