import type { ProviderEvents } from '../../core/provider-events/index.js';
import type { Providers } from '../../core/providers/registry.js';
import {
  createComparison,
  createPace,
  emptyReport,
  NOTHING_TO_APPLY,
} from '../../core/reconciliation/comparison.js';
import { logAttention } from '../../core/supervision/attention-log.js';
import { DAY_MS } from '../../shared/durations.js';
import { firstIdAt } from '../../shared/ids.js';
import type { Log } from '../../shared/log.js';
import { comparedTransfers, findStrangers, hasEnded } from './comparison.js';
import type { Transfers } from './store.js';
import { transferWorkflowId } from './transfer.js';
import type { ReconciliationPage, ReconciliationPageInput } from './workflow-contract.js';
import type { TransferStarter } from './workflow-starter.js';

type Deps = {
  transfers: { store: Transfers; starter: Pick<TransferStarter, 'notifyChangedSoon'> };
  providers: Pick<Providers, 'find'>;
  providerEvents: Pick<ProviderEvents, 'receive'>;
  log: Log;
};

const MAX_PAGE = 200;
/** Longest time that the lookups of one page take by their rate. */
const PAGE_SECONDS = 10;

/**
 * Compares the next page of the transfers of one provider that were created in the last `days` days and have ended, and
 * applies the bank's answers. A difference that no answer corrects raises attention.
 */
export async function reconcileNextPage(
  deps: Deps,
  { provider, days, perSecond, position }: ReconciliationPageInput,
): Promise<ReconciliationPage> {
  const { store } = deps.transfers;
  const now = Date.now();
  const { after, until } = position ?? {
    after: firstIdAt('transfer', new Date(now - days * DAY_MS)),
    until: firstIdAt('transfer', new Date(now)),
  };
  const limit = Math.min(MAX_PAGE, Math.max(1, Math.ceil(perSecond * PAGE_SECONDS)));
  const page = await store.madeBetween(after, until, limit);
  const report = emptyReport();
  const run = { apply: true, takeTurn: createPace(perSecond), report };
  await createComparison(comparedTransfers(deps))(run, page.filter(hasEnded(provider)));
  for (const { id, tenantId, difference, outcome } of report.differences) {
    if (outcome !== NOTHING_TO_APPLY || tenantId === null) continue;
    const reason = `reconciliation: ${difference}`;
    if (!(await store.raiseDifference(tenantId, id, reason))) continue;
    const workflow_id = transferWorkflowId(id);
    logAttention(deps.log, { resource: id, tenant: tenantId, workflow_id, reason });
  }
  const { asked, unanswered, differing, settled } = report;
  const last = page.at(-1);
  const next = last && page.length === limit ? { after: last._id, until } : null;
  const since = new Date(now - days * DAY_MS);
  // The end of the run: payments that the bank has and we do not.
  const strangers = next ? [] : await findStrangers(deps, { since, providers: [provider] });
  return {
    counts: { asked, unanswered, differing: differing + strangers.length, settled },
    position: next,
  };
}
