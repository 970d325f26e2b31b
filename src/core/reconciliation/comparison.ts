import { setTimeout as sleep } from 'node:timers/promises';
import { mapWithConcurrency } from '../../shared/concurrency.js';
import { isOpen, type InstructionRecord } from '../instructions/instruction.js';
import type { Verdict } from '../instructions/transition.js';
import type { Trace } from '../providers/port.js';

/** The fields of a record that every comparison needs. */
export type Comparable = Pick<
  InstructionRecord,
  '_id' | 'tenant_id' | 'provider' | 'status' | 'created_at' | 'updated_at'
>;

/** A record that differs from its provider's report. `outcome`: the verdict, if the report was applied. Amounts in kobo. */
export type Difference = {
  /** The capability of the record. */
  kind: string;
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
};

/** The state of a record here and at its provider, in words, with the amount at stake in kobo. */
export type Described = { amountMinor: bigint; ours: string; difference: string };

/** The records of a capability, as they are compared with their providers. */
export type ComparedRecords<R extends Comparable, Answer extends Trace & { kind: string }> = {
  kind: string;
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
const CONCURRENT_CALLS = 8;
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
    // The adapter sets the timeout of the call.
    return records.ask(record, new AbortController().signal);
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

  async function note({ apply, report }: ReconcileRun, ours: R, answer: Answer): Promise<void> {
    const verdict = apply ? await records.apply(ours, answer) : null;
    const { _id: id, tenant_id: tenantId, provider } = ours;
    addDifference(report, {
      kind: records.kind,
      id,
      tenantId,
      provider,
      ...records.describe(ours, answer),
      bank: answer.kind,
      outcome: apply ? (verdict ?? NOTHING_TO_APPLY) : null,
    });
  }

  return async function comparePage(run: ReconcileRun, page: readonly R[]): Promise<void> {
    await mapWithConcurrency(CONCURRENT_CALLS, page, async (ours) => {
      run.report.asked += 1;
      const found = await compare(run, ours);
      if (found === 'unanswered') run.report.unanswered += 1;
      else if (found !== 'agrees') await note(run, found.ours, found.answer);
    });
  };
}

/** The part of a capability in a reconciliation: it compares its open records, and those that were created since a time. */
export type Reconciled = {
  kind: string;
  reconcile(run: ReconcileRun, scope: ReconcileScope): Promise<void>;
};

/** The records of a reconciliation: all open ones, and those of these tenants that were created since. */
export type ReconcileScope = { since: Date; tenants: readonly string[] };

/** Makes the part of a capability from its records. `pages` yields them. */
export function reconciledBy<R extends Comparable, Answer extends Trace & { kind: string }>(
  records: ComparedRecords<R, Answer>,
  pages: (scope: ReconcileScope) => AsyncIterable<readonly R[]>,
): Reconciled {
  const comparePage = createComparison(records);
  return {
    kind: records.kind,
    async reconcile(run, scope) {
      for await (const page of pages(scope)) await comparePage(run, page);
    },
  };
}

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

/** Spaces calls evenly, because payments share the provider's rate limit and have priority. */
export function createPace(perSecond: number): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = performance.now();
    const at = Math.max(now, next);
    next = at + 1000 / perSecond;
    if (at > now) await sleep(at - now);
  };
}
