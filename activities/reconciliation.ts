import { cancellationSignal } from '@temporalio/activity';
import type { CallRates } from '../src/core/providers/call-rates.js';
import { compareOpenBreaks, type Breaks } from '../src/core/reconciliation/breaks.js';
import type { ReconciliationRuns } from '../src/core/reconciliation/last-runs.js';
import {
  addReport,
  countsWith,
  createPace,
  emptyReport,
  isSilent,
  type Reconciled,
} from '../src/core/reconciliation/comparison.js';
import type {
  RecordPageInput,
  RecordPageResult,
} from '../src/core/reconciliation/workflow-contract.js';
import { pageLimit } from '../src/core/reconciliation/pages.js';
import type { Tenants } from '../src/platform/tenants/store.js';
import { DAY_MS } from '../src/shared/durations.js';
import type { Log } from '../src/shared/log.js';
import { withHeartbeats } from './heartbeats.js';
import { noteAnswers } from './provider-result.js';

/** Parts that the comparison of records needs. */
export type ReconciliationActivityDeps = {
  /** The compared records of each capability. */
  reconciled: Readonly<Record<string, Reconciled>>;
  breaks: Breaks;
  callRates: Pick<CallRates, 'answered'>;
  tenants: Pick<Tenants, 'list'>;
  reconciliationRuns: Pick<ReconciliationRuns, 'noteEnd'>;
  log: Log;
};

/** Calls of a page at the given rate take about this long. A record may need more than one. */
const PAGE_SECONDS = 60;

/** The activity that compares records with their providers. Its name is in histories, so it never changes. */
export const createReconciliationActivities = (deps: ReconciliationActivityDeps) => ({
  /** Compares a page of records, applies the answers of their providers, and keeps the breaks. */
  reconcileRecords: (input: RecordPageInput): Promise<RecordPageResult> =>
    withHeartbeats(async () => {
      const page = await reconcilePage({ ...deps, signal: cancellationSignal() }, input);
      const run = { kind: input.kind, provider: null };
      if (page.position === null && !isSilent(page.counts))
        await deps.reconciliationRuns.noteEnd(run);
      return page;
    }),
});

/** Parts that one page needs. */
type PageDeps = Omit<ReconciliationActivityDeps, 'reconciliationRuns' | 'log'> &
  Partial<Pick<ReconciliationActivityDeps, 'log'>> & { signal?: AbortSignal };

/** Compares a page of records; the last one also compares the records of breaks that are open since an earlier run. */
export async function reconcilePage(
  { reconciled, breaks, tenants, callRates, signal, log }: PageDeps,
  { kind, days, perSecond, position }: RecordPageInput,
): Promise<RecordPageResult> {
  const report = emptyReport();
  const of = reconciled[kind];
  if (!of) return { counts: countsWith(report, report), position: null };
  // A position has the time of the first page: a run that takes long leaves out none of its oldest records.
  const begin = position === null ? Date.now() : Date.parse(position.until);
  const since = new Date(begin - days * DAY_MS);
  const run = {
    apply: true,
    takeTurn: createPace(perSecond, signal),
    report,
    breaks,
    answered: noteAnswers(callRates),
    ...(signal && { signal }),
    ...(log && { log }),
  };
  const ids = (await tenants.list()).map(({ id }) => id);
  // An activity has ten minutes: a page of a slow provider has fewer records.
  const limit = pageLimit(perSecond * PAGE_SECONDS);
  const next = await of.reconcilePage(run, { since, tenants: ids, limit }, position);
  const beside = emptyReport();
  if (next === null) {
    await compareOpenBreaks(breaks, { capability: kind, limit }, async (keys) => {
      const batch = emptyReport();
      await of.reconcileAll({ ...run, report: batch }, keys);
      addReport(beside, batch);
      return batch;
    });
  }
  return { counts: countsWith(report, beside), position: next };
}
