import type { Client } from '@temporalio/client';
import type { Providers } from '../../core/providers/registry.js';
import { PAGE_REPEATS } from '../../core/reconciliation/workflow-contract.js';
import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import { keepSchedule, workflowEvery } from '../../platform/temporal/schedules.js';
import { transferReconciliationId, type TransferReconciliationInput } from './workflow-contract.js';

/** The pace of the scheduled reconciliation, as a part of its provider's rate. */
const RECONCILIATION_RATE_SHARE = 0.05;

/** Settings of the scheduled reconciliation. `days: 0` turns it off. */
type ReconciliationSettings = { days: number; everyMs: number };

/** Creates, updates or deletes the Schedules that compare ended transfers with their providers. */
export function createReconciliationSchedules({
  client,
  taskQueue,
  providers,
  settings: { days, everyMs },
}: {
  client: Client;
  taskQueue: string;
  providers: Pick<Providers, 'all' | 'rateLimits'>;
  settings: ReconciliationSettings;
}) {
  function optionsOf(provider: string) {
    const limit = providers.rateLimits.find(({ name }) => name === transferRateLimitKey(provider));
    const input: TransferReconciliationInput = {
      provider,
      days,
      perSecond: (limit?.callsPerSecond ?? 1) * RECONCILIATION_RATE_SHARE,
      position: null,
      counts: { asked: 0, unanswered: 0, differing: 0, settled: 0 },
      pageRepeats: PAGE_REPEATS,
    };
    return workflowEvery(everyMs, {
      workflowType: 'transferReconciliation',
      workflowId: transferReconciliationId(taskQueue, provider),
      taskQueue,
      input,
      provider,
      summary: `transfers of the last ${days} days, compared with ${provider}`,
    });
  }

  return {
    /** Makes the Schedule of each provider agree with the settings. An operator's pause is kept. */
    async keep(): Promise<void> {
      for (const { name } of providers.all) {
        const scheduleId = transferReconciliationId(taskQueue, name);
        await keepSchedule(client, scheduleId, days === 0 ? null : optionsOf(name));
      }
    },
  };
}
