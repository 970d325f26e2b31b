import type { Client } from '@temporalio/client';
import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import { keepSchedule, workflowEvery } from '../../platform/temporal/schedules.js';
import type { Providers } from '../providers/registry.js';
import {
  PAGE_REPEATS,
  statementReconciliationId,
  type StatementReconciliationInput,
} from './workflow-contract.js';

/** Share of a provider's rate limit for the scheduled reading of its statements. Payments and polls have the rest. */
const RATE_SHARE = 0.05;

/** Creates, updates or deletes the Schedules that read the providers' own statements. A provider without one has none. */
export function createStatementSchedules({
  client,
  taskQueue,
  providers,
  settings: { statementDays: days, everyMs },
}: {
  client: Client;
  taskQueue: string;
  providers: Pick<Providers, 'all' | 'rateLimits'>;
  /** `statementDays: 0` turns the reading off. */
  settings: { statementDays: number; everyMs: number };
}) {
  function optionsOf(provider: string) {
    const limit = providers.rateLimits.find(({ name }) => name === transferRateLimitKey(provider));
    const input: StatementReconciliationInput = {
      provider,
      days,
      perSecond: (limit?.callsPerSecond ?? 1) * RATE_SHARE,
      position: null,
      counts: { asked: 0, unanswered: 0, differing: 0, settled: 0 },
      pageRepeats: PAGE_REPEATS,
    };
    return workflowEvery(everyMs, {
      workflowType: 'statementReconciliation',
      workflowId: statementReconciliationId(taskQueue, provider),
      taskQueue,
      input,
      provider,
      summary: `statements of the last ${days} days of ${provider}, compared with the ledger`,
    });
  }

  return {
    /** Makes the Schedule of each provider agree with the settings. An operator's pause is kept. */
    async keep(): Promise<void> {
      for (const provider of providers.all) {
        const { name } = provider;
        const isRead = days > 0 && provider.ledger !== undefined;
        const id = statementReconciliationId(taskQueue, name);
        await keepSchedule(client, id, isRead ? optionsOf(name) : null);
      }
    },
  };
}
