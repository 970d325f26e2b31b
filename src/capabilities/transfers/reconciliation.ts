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
  NOTHING_TO_APPLY,
  type ReconcileRun,
} from '../../core/reconciliation/comparison.js';
import { pageLimit } from '../../core/reconciliation/pages.js';
import { logAttention } from '../../core/supervision/attention-log.js';
import { DAY_MS } from '../../shared/durations.js';
import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import { firstIdAt } from '../../shared/ids.js';
import type { Log } from '../../shared/log.js';
import { comparedTransfers, findStrangers, hasEnded } from './comparison.js';
import type { Transfers } from './store.js';
import { transferWorkflowId } from './record.js';
import type { ReconciliationPage, ReconciliationPageInput } from './workflow-contract.js';
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

/** Longest time that the lookups of one page take by their rate. */
const PAGE_SECONDS = 10;

/**
 * Compares the next page of the transfers of one provider that were created in the last `days` days and have ended, and
 * applies the bank's answers. A difference that no answer corrects raises attention.
 */
export async function reconcileNextPage(
  deps: Deps,
  { provider, days, perSecond, position }: ReconciliationPageInput,
  signal: AbortSignal,
): Promise<ReconciliationPage> {
  const { store } = deps.transfers;
  const now = Date.now();
  const { after, until } = position ?? {
    after: firstIdAt('transfer', new Date(now - days * DAY_MS)),
    until: firstIdAt('transfer', new Date(now)),
  };
  const limit = pageLimit(perSecond * PAGE_SECONDS);
  const page = await store.madeBetween(after, until, limit);
  const report = emptyReport();
  const pace = createPace(perSecond);
  const takeTurn = async () => {
    await pace();
    await deps.callRates.takeWithin(
      transferRateLimitKey(provider),
      'reconciliation',
      Infinity,
      signal,
    );
  };
  const { breaks, answered } = deps;
  const run = { apply: true, takeTurn, report, breaks, ...(answered && { answered }) };
  const comparePage = createComparison(comparedTransfers(deps));
  await comparePage(run, page.filter(hasEnded(provider)));
  const last = page.at(-1);
  const next = last && page.length === limit ? { after: last._id, until } : null;
  // The end of the run: breaks of older transfers, and payments that the bank has and we do not.
  const beside = emptyReport();
  if (!next) {
    await compareOpenBreaks(breaks, { capability: 'transfers', provider, limit }, async (keys) => {
      const batch = emptyReport();
      const found = await foundOf(keys, ({ tenantId, id }) => store.get(tenantId, id));
      await comparePage({ ...run, report: batch }, found.filter(hasEnded(provider)));
      addReport(beside, batch);
      return batch;
    });
  }
  for (const { id, tenantId, difference, outcome } of [
    ...report.differences,
    ...beside.differences,
  ]) {
    if (outcome !== NOTHING_TO_APPLY || tenantId === null) continue;
    const reason = `reconciliation: ${difference}`;
    if (!(await store.raiseDifference(tenantId, id, reason))) continue;
    const workflow_id = transferWorkflowId(id);
    logAttention(deps.log, { resource: id, tenant: tenantId, workflow_id, reason });
  }
  const since = new Date(now - days * DAY_MS);
  if (!next) await findStrangers(deps, run, { since, providers: [provider] });
  return { counts: countsWith(report, beside), position: next };
}
