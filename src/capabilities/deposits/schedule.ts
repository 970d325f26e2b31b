import type { Client } from '@temporalio/client';
import type { Providers } from '../../core/providers/registry.js';
import { accountRateLimitKey } from '../../platform/temporal/queues.js';
import { keepSchedule, workflowEvery } from '../../platform/temporal/schedules.js';
import {
  DEPOSIT_PAGES,
  depositReconciliationId,
  type DepositReconciliationInput,
} from './workflow-contract.js';

/** Share of a provider's rate limit for the scheduled search for deposits that no message has reported. */
const RATE_SHARE = 0.05;

/** Creates, updates or deletes the Schedules that find deposits which no message has reported. */
export function createDepositSchedules({
  client,
  taskQueue,
  providers,
  settings: { days, everyMs },
}: {
  client: Client;
  taskQueue: string;
  providers: Pick<Providers, 'accountProviders' | 'rateLimits'>;
  /** `days: 0` turns the search off. */
  settings: { days: number; everyMs: number };
}) {
  function optionsOf(provider: string) {
    const limit = providers.rateLimits.find(({ name }) => name === accountRateLimitKey(provider));
    const perSecond = (limit?.callsPerSecond ?? 1) * RATE_SHARE;
    const maxPages = DEPOSIT_PAGES;
    const input: DepositReconciliationInput = { provider, days, perSecond, maxPages };
    return workflowEvery(everyMs, {
      workflowType: 'depositReconciliation',
      workflowId: depositReconciliationId(taskQueue, provider),
      taskQueue,
      input,
      provider,
      summary: `deposits of the last ${days} days at ${provider}`,
    });
  }

  return {
    /** Makes the Schedule of each provider agree with the settings. An operator's pause is kept. */
    async keep(): Promise<void> {
      for (const { name } of providers.accountProviders) {
        const scheduleId = depositReconciliationId(taskQueue, name);
        await keepSchedule(client, scheduleId, days === 0 ? null : optionsOf(name));
      }
    },
  };
}
