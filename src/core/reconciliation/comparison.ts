import { setTimeout as sleep } from 'node:timers/promises';
import { mapWithConcurrency } from '../../shared/concurrency.js';
import type { Log } from '../../shared/log.js';
import { isOpen, type InstructionRecord } from '../instructions/instruction.js';
import type { Verdict } from '../instructions/transition.js';
import { ProviderNotConfigured } from '../providers/not-configured.js';
import type { Trace } from '../providers/port.js';
import type { BreakKind, FoundBreak } from './break.js';
import type { Breaks, RecordKey } from './breaks.js';
import type { PagePosition, RecordPage } from './pages.js';

/** The fields of a record that every comparison needs. */
export type Comparable = Pick<
  InstructionRecord,
  '_id' | 'tenant_id' | 'provider' | 'status' | 'created_at' | 'updated_at'
>;

/** A record that differs from its provider's report. `outcome`: the verdict, if the report was applied. Amounts in kobo. */
export type Difference = {
  /** The capability of the record. */
  kind: string;
  breakKind: BreakKind;
  id: string;
  /** Null if the provider has a payment of which there is no record. */
  tenantId: string | null;
  provider: string;
  amountMinor: bigint;
  ours: string;
  bank: string;
  difference: string;
  outcome: string | null;
};

/** The result of a reconciliation. The command line prints it under these names. */
export type ReconcileReport = {
  asked: number;
  /** Number of records without a usable answer of their provider. */
  unanswered: number;
  differing: number;
  /** Number of differing records that applying the provider's report corrected. */
  settled: number;
  /** The first 1,000 differences. */
  differences: Difference[];
};

/** A report of nothing. */
export const emptyReport = (): ReconcileReport => ({
  asked: 0,
  unanswered: 0,
  differing: 0,
  settled: 0,
  differences: [],
});

/** One reconciliation: whether reports are applied, the rate of its calls, and what it has found. */
export type ReconcileRun = {
  apply: boolean;
  /** Waits until the next call to a provider is allowed. */
  takeTurn(): Promise<void>;
  report: ReconcileReport;
  /** Keeps what differs, and closes what agrees again. */
  breaks: Pick<Breaks, 'note'>;
  /** Notes an answer for the rate of its calls. Left out where nothing else waits for the provider. */
  answered?: (rateLimitKey: string, answer: { kind: string; reason?: unknown }) => void;
  /** Ends the run: nobody waits for it any more. */
  signal?: AbortSignal;
  /** Gets the errors of single records, which do not end the run. */
  log?: Log;
};

/** The signal of the calls of a run. The adapter sets the timeout of each. */
export const signalOf = ({ signal }: Pick<ReconcileRun, 'signal'>): AbortSignal =>
  signal ?? new AbortController().signal;

/** The state of a record here and at its provider, in words, with the amount at stake in kobo. */
export type Described = {
  breakKind: BreakKind;
  amountMinor: bigint;
  ours: string;
  difference: string;
};

/** The records of a capability, as they are compared with their providers. */
export type ComparedRecords<R extends Comparable, Answer extends Trace & { kind: string }> = {
  kind: string;
  /** The name of the rate of its calls to a provider. */
  rateLimitKey: (provider: string) => string;
  get(tenantId: string, id: string): Promise<R | null>;
  /** Asks the provider, and changes nothing. `unknown` is no answer. */
  ask(record: R, signal: AbortSignal): Promise<Answer>;
  /** True if the answer allows the record's state. An open record has no outcome, so only a final answer differs. */
  agrees(record: R, answer: Answer): boolean;
  describe(record: R, answer: Answer): Described;
  /** Applies the answer by the rules of the capability; null if it proves nothing. */
  apply(record: R, answer: Answer): Promise<Verdict | null>;
};

/** The outcome of a difference that the provider's answer does not explain, such as a payment that it does not know. */
export const NOTHING_TO_APPLY = 'nothing to apply';
/** The outcome of a difference whose report could not be applied: the log has the error, and the next run tries again. */
export const NOT_APPLIED = 'not applied';
/** Calls of a comparison that are under way at once. */
export const CONCURRENT_CALLS = 8;
const MAX_LISTED = 1_000;
/** A record that is in flight may only lag behind its provider, so it is compared again after this time. */
const COMPARE_AGAIN_AFTER_MS = 2_000;
const IN_FLIGHT_MS = 60_000;

/** Creates the function that compares pages of records with their providers. */
export function createComparison<R extends Comparable, Answer extends Trace & { kind: string }>(
  records: ComparedRecords<R, Answer>,
) {
  async function ask(run: ReconcileRun, record: R): Promise<Answer> {
    await run.takeTurn();
    const answer = await records.ask(record, signalOf(run));
    run.answered?.(records.rateLimitKey(record.provider), answer);
    return answer;
  }

  async function compare(run: ReconcileRun, ours: R) {
    const first = await ask(run, ours);
    if (first.kind === 'unknown') return 'unanswered';
    if (records.agrees(ours, first)) return 'agrees';
    const inFlight = isOpen(ours) || Date.now() - ours.updated_at.getTime() < IN_FLIGHT_MS;
    if (inFlight) await sleep(COMPARE_AGAIN_AFTER_MS);
    const now = await records.get(ours.tenant_id, ours._id);
    const answer = now && (await ask(run, now));
    if (!answer || answer.kind === 'unknown') return 'unanswered';
    return records.agrees(now, answer) ? 'agrees' : { ours: now, answer };
  }

  async function note(run: ReconcileRun, ours: R, answer: Answer): Promise<Difference> {
    const { _id: id, tenant_id: tenantId, provider } = ours;
    const { apply, report } = run;
    const resource = { id, tenantId };
    const verdict = apply
      ? await records.apply(ours, answer).catch(notAppliedAfter(run, resource))
      : null;
    const difference = {
      kind: records.kind,
      id,
      tenantId,
      provider,
      ...records.describe(ours, answer),
      bank: answer.kind,
      outcome: apply ? (verdict ?? NOTHING_TO_APPLY) : null,
    };
    addDifference(report, difference);
    return difference;
  }

  return async function comparePage(run: ReconcileRun, page: readonly R[]): Promise<void> {
    const compared: { provider: string; id: string }[] = [];
    const found: Difference[] = [];
    await mapWithConcurrency(CONCURRENT_CALLS, page, async (ours) => {
      run.report.asked += 1;
      const resource = { id: ours._id, tenantId: ours.tenant_id };
      const result = await compare(run, ours).catch(unansweredAfter(run, resource));
      if (result === 'unanswered') {
        run.report.unanswered += 1;
        return;
      }
      compared.push({ provider: ours.provider, id: ours._id });
      if (result !== 'agrees') found.push(await note(run, result.ours, result.answer));
    });
    for (const provider of new Set(compared.map((each) => each.provider))) {
      const ids = compared.filter((each) => each.provider === provider).map(({ id }) => id);
      await noteBreaks(run.breaks, provider, ids, found);
    }
  };
}

/** The record that an error is about. */
type Resource = { id: string; tenantId: string | null };

/**
 * The result after an error of one record: the others of its page are compared all the same. The provider of a record may not be
 * configured any more, which is no error.
 */
export const unansweredAfter =
  (run: Pick<ReconcileRun, 'signal' | 'log'>, resource: Resource) =>
  (error: unknown): 'unanswered' => {
    if (!(error instanceof ProviderNotConfigured)) logError(run, resource, error, 'compared');
    return 'unanswered';
  };

/** The outcome after an error of the application of one report. The difference stays a break. */
export const notAppliedAfter =
  (run: Pick<ReconcileRun, 'signal' | 'log'>, resource: Resource) =>
  (error: unknown): typeof NOT_APPLIED => {
    logError(run, resource, error, 'applied');
    return NOT_APPLIED;
  };

function logError(
  { signal, log }: Pick<ReconcileRun, 'signal' | 'log'>,
  { id: resource, tenantId: tenant }: Resource,
  error: unknown,
  step: 'compared' | 'applied',
): void {
  // The run itself is over.
  if (signal?.aborted) throw error;
  log?.error({ err: error, resource, tenant }, `reconciliation: record not ${step}`);
}

/** Keeps the breaks among these references of a provider. A difference that was corrected is none any more. */
export async function noteBreaks(
  breaks: Pick<Breaks, 'note'>,
  provider: string,
  references: readonly string[],
  differences: readonly Difference[],
): Promise<void> {
  const remain = differences.filter(
    (each) => each.provider === provider && each.outcome !== 'applied',
  );
  await breaks.note({ source: 'record', provider, references, found: remain.map(breakOf) });
}

const breakOf = (of: Difference): FoundBreak => ({
  kind: of.breakKind,
  source: 'record',
  provider: of.provider,
  capability: of.kind,
  reference: of.id,
  tenantId: of.tenantId,
  amountMinor: of.amountMinor,
  difference: of.difference,
});

/** The part of a capability in a reconciliation: it compares its open records, and those that were created since a time. */
export type Reconciled = {
  kind: string;
  reconcile(run: ReconcileRun, scope: ReconcileScope): Promise<void>;
  /** Compares the page at a position, null for the first one. Returns the position of the next page, null after the last. */
  reconcilePage(
    run: ReconcileRun,
    scope: ReconcileScope,
    position: PagePosition | null,
  ): Promise<PagePosition | null>;
  /** Compares one record alone. False if there is no such record. */
  reconcileOne(run: ReconcileRun, tenantId: string, id: string): Promise<boolean>;
  /** Compares those of these records that are there. */
  reconcileAll(run: ReconcileRun, keys: readonly RecordKey[]): Promise<void>;
};

/**
 * The records of a reconciliation: all open ones, and those of these tenants that were created since. `limit`: records of a page,
 * if fewer than usual.
 */
export type ReconcileScope = { since: Date; tenants: readonly string[]; limit?: number };

/** Makes the part of a capability from its records. `pages` yields them. */
export function reconciledBy<R extends Comparable, Answer extends Trace & { kind: string }>(
  records: ComparedRecords<R, Answer>,
  pages: (scope: ReconcileScope, from: PagePosition | null) => AsyncIterable<RecordPage<R>>,
): Reconciled {
  const comparePage = createComparison(records);
  return {
    kind: records.kind,
    async reconcile(run, scope) {
      for await (const page of pages(scope, null)) await comparePage(run, page.records);
    },
    async reconcilePage(run, scope, position) {
      for await (const page of pages(scope, position)) {
        await comparePage(run, page.records);
        return page.next;
      }
      return null;
    },
    async reconcileOne(run, tenantId, id) {
      const record = await records.get(tenantId, id);
      if (record) await comparePage(run, [record]);
      return record !== null;
    },
    async reconcileAll(run, keys) {
      await comparePage(run, await foundOf(keys, (each) => records.get(each.tenantId, each.id)));
    },
  };
}

/** Those of these records that are there. */
export async function foundOf<R>(
  keys: readonly RecordKey[],
  get: (key: RecordKey) => Promise<R | null>,
): Promise<R[]> {
  const found = await Promise.all(keys.map(get));
  return found.filter((each) => each !== null);
}

/** Adds what a part of a run has found. */
export function addReport(report: ReconcileReport, part: ReconcileReport): void {
  report.asked += part.asked;
  report.unanswered += part.unanswered;
  report.differing += part.differing;
  report.settled += part.settled;
  report.differences.push(...part.differences.slice(0, MAX_LISTED - report.differences.length));
}

/** The counts of a page, with those of the open breaks beside it. Only the page's own silence repeats the page. */
export const countsWith = (
  page: ReconcileReport,
  beside: ReconcileReport,
): Omit<ReconcileReport, 'differences'> => ({
  // A page without any answer stays one.
  asked: page.asked + (isSilent(page) ? 0 : beside.asked - beside.unanswered),
  unanswered: page.unanswered,
  differing: page.differing + beside.differing,
  settled: page.settled + beside.settled,
});

/** True for a page of which the provider has answered nothing. */
export const isSilent = ({ asked, unanswered }: Pick<ReconcileReport, 'asked' | 'unanswered'>) =>
  asked > 0 && unanswered === asked;

/** The verdict of an answer whose facts were committed by other means; null if they changed nothing. */
export function verdictOf(
  before: Pick<InstructionRecord, 'version' | 'attention'>,
  after: Pick<InstructionRecord, 'version' | 'attention'> | null,
): Verdict | null {
  if (!after || after.version === before.version) return null;
  return after.attention && !before.attention ? 'attention' : 'applied';
}

/** Counts a difference, and lists it if the list is not full. */
export function addDifference(report: ReconcileReport, difference: Difference): void {
  report.differing += 1;
  if (difference.outcome === 'applied') report.settled += 1;
  if (report.differences.length < MAX_LISTED) report.differences.push(difference);
}

/** Spaces calls evenly, because payments share the provider's rate limit and have priority. Throws once the signal is aborted. */
export function createPace(perSecond: number, signal?: AbortSignal): () => Promise<void> {
  let next = 0;
  return async () => {
    signal?.throwIfAborted();
    const now = performance.now();
    const at = Math.max(now, next);
    next = at + 1000 / perSecond;
    if (at > now) await sleep(at - now, undefined, signal && { signal });
  };
}
