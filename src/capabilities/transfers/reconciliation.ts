import type { ProviderEvents } from '../../core/provider-events/index.js';
import type { CallRates } from '../../core/providers/call-rates.js';
import type { Providers } from '../../core/providers/registry.js';
import { compareOpenBreaks, type Breaks } from '../../core/reconciliation/breaks.js';
import {
  addReport,
  countsWith,
  createComparison,
  createPace,
  emptyReport,
  foundOf,
  notAppliedAfter,
  NOTHING_TO_APPLY,
  type Difference,
  type ReconcileRun,
} from '../../core/reconciliation/comparison.js';
import { pageLimit } from '../../core/reconciliation/pages.js';
import { logAttention } from '../../core/supervision/attention-log.js';
import { DAY_MS } from '../../shared/durations.js';
import { questionsOf, transferRateLimitKey } from '../../platform/temporal/queues.js';
import { firstIdAt } from '../../shared/ids.js';
import type { Log } from '../../shared/log.js';
import { comparedTransfers, hasEnded, searchedSince, searchListPage } from './comparison.js';
import type { Transfers } from './store.js';
import { transferWorkflowId } from './record.js';
import type {
  ReconciliationPage,
  ReconciliationPageInput,
  ReconciliationPosition,
} from './workflow-contract.js';
import type { TransferStarter } from './workflow-starter.js';

type Deps = {
  transfers: { store: Transfers; starter: Pick<TransferStarter, 'notifyChangedSoon'> };
  providers: Pick<Providers, 'find'>;
  callRates: Pick<CallRates, 'takeWithin'>;
  answered: ReconcileRun['answered'];
  providerEvents: Pick<ProviderEvents, 'receive'>;
  breaks: Pick<Breaks, 'note' | 'openOf' | 'noteTry'>;
  log: Log;
};

/** Longest time that the calls of one page take by their rate. */
const PAGE_SECONDS = 10;

/**
 * Compares the next page of the transfers of one provider that were created in the last `days` days and have ended, and
 * applies the bank's answers. A difference that no answer corrects raises attention. After the transfers follows the provider's own
 * list, in which payments are found that we have no transfer for.
 */
export async function reconcileNextPage(
  deps: Deps,
  input: ReconciliationPageInput,
  signal: AbortSignal,
): Promise<ReconciliationPage> {
  const run = newRun(deps, input, signal);
  const { position } = input;
  return position?.list
    ? searchNextPages(deps, run, input, { ...position, list: position.list })
    : compareNextPage(deps, run, input);
}

function newRun(
  { breaks, callRates, answered, log }: Deps,
  { provider, perSecond }: ReconciliationPageInput,
  signal: AbortSignal,
) {
  const pace = createPace(perSecond, signal);
  const rateLimit = questionsOf(transferRateLimitKey(provider));
  const takeTurn = async () => {
    await pace();
    await callRates.takeWithin(rateLimit, 'reconciliation', Infinity, signal);
  };
  const report = emptyReport();
  return { apply: true, takeTurn, report, breaks, signal, log, ...(answered && { answered }) };
}

async function compareNextPage(
  deps: Deps,
  run: ReconcileRun,
  { provider, days, perSecond, position }: ReconciliationPageInput,
): Promise<ReconciliationPage> {
  const { store } = deps.transfers;
  const now = Date.now();
  const since = new Date(now - days * DAY_MS);
  const { after, until } = position ?? {
    after: firstIdAt('transfer', since),
    until: firstIdAt('transfer', new Date(now)),
  };
  const limit = pageLimit(perSecond * PAGE_SECONDS);
  const page = await store.madeAt(provider, { after, before: until, limit });
  const comparePage = createComparison(comparedTransfers(deps));
  await comparePage(run, page.records.filter(hasEnded(provider)));
  // The end of the transfers: breaks of older ones.
  const beside = emptyReport();
  if (page.next === null) {
    const of = { capability: 'transfers', provider, limit };
    await compareOpenBreaks(deps.breaks, of, async (keys) => {
      const batch = emptyReport();
      const found = await foundOf(keys, ({ tenantId, id }) => store.get(tenantId, id));
      await comparePage({ ...run, report: batch }, found.filter(hasEnded(provider)));
      addReport(beside, batch);
      return batch;
    });
  }
  await raiseAttention(deps, run, [...run.report.differences, ...beside.differences]);
  const counts = countsWith(run.report, beside);
  if (page.next !== null) return { counts, position: { after: page.next, until } };
  if (!deps.providers.find(provider)?.list) return { counts, position: null };
  const { from, to } = searchedSince(since);
  const list = { from: from.toISOString(), to: to.toISOString(), cursor: null };
  return { counts, position: { after: until, until, list } };
}

/** Calls an operator for the transfers that differ and that no answer corrects. */
async function raiseAttention(
  { transfers: { store }, log }: Deps,
  run: ReconcileRun,
  differences: readonly Difference[],
): Promise<void> {
  for (const { id, tenantId, difference, outcome } of differences) {
    if (outcome !== NOTHING_TO_APPLY || tenantId === null) continue;
    const reason = `reconciliation: ${difference}`;
    const raised = await store
      .raiseDifference(tenantId, id, reason)
      .catch(notAppliedAfter(run, { id, tenantId }));
    if (raised !== true) continue;
    logAttention(log, {
      resource: id,
      tenant: tenantId,
      workflow_id: transferWorkflowId(id),
      reason,
    });
  }
}

type ListPosition = ReconciliationPosition & Required<Pick<ReconciliationPosition, 'list'>>;

/**
 * Reads pages of the provider's list for some seconds. The position keeps the cursor, so a list of any length is read to its end. A
 * page without an answer is repeated by the workflow some times; then the rest of the list is left to the next run.
 */
async function searchNextPages(
  deps: Deps,
  run: ReconcileRun,
  { provider: name }: ReconciliationPageInput,
  { list, ...position }: ListPosition,
): Promise<ReconciliationPage> {
  const provider = deps.providers.find(name);
  const counts = () => countsWith(run.report, emptyReport());
  if (!provider?.list) return { counts: counts(), position: null };
  const window = { from: new Date(list.from), to: new Date(list.to) };
  const end = performance.now() + PAGE_SECONDS * 1_000;
  let { cursor } = list;
  let isFirst = true;
  do {
    const page = await searchListPage(deps, run, provider, { ...window, cursor });
    if (!page && isFirst) {
      run.report.asked += 1;
      run.report.unanswered += 1;
    }
    if (!page) break;
    isFirst = false;
    cursor = page.next;
  } while (cursor !== null && performance.now() < end);
  const isOver = isFirst || cursor === null;
  return {
    counts: counts(),
    position: isOver ? null : { ...position, list: { ...list, cursor } },
  };
}
