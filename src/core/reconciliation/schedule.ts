import type { Client } from '@temporalio/client';
import type { RateLimit } from '../../platform/temporal/queues.js';
import { keepSchedule, workflowEvery } from '../../platform/temporal/schedules.js';
import {
  PAGE_REPEATS,
  recordReconciliationId,
  type RecordReconciliationInput,
} from './workflow-contract.js';

/** Share of a provider's rate limit for the scheduled comparison of records. Payments and polls have the rest. */
export const RECORD_RATE_SHARE = 0.05;

/** A kind of record that is compared by schedule: its capability, and the suffix of the rate limits of its calls. */
export type ScheduledKind = {
  kind: string;
  port: string;
  /** True if records of any age are compared, and not only those of the last days. */
  isAnyAge?: boolean;
};

/** The rate limits of the providers that serve a kind. */
export const limitsOf = (
  { port }: Pick<ScheduledKind, 'port'>,
  rateLimits: readonly RateLimit[],
): RateLimit[] => rateLimits.filter(({ name }) => name.endsWith(`-${port}`));

/** Creates, updates or deletes the Schedules that compare the records of these kinds with their providers. */
export function createRecordSchedules({
  client,
  taskQueue,
  kinds,
  rateLimits,
  settings: { days, everyMs },
}: {
  client: Client;
  taskQueue: string;
  kinds: readonly ScheduledKind[];
  rateLimits: readonly RateLimit[];
  /** `days: 0` turns the comparison off. */
  settings: { days: number; everyMs: number };
}) {
  /** The rate of the slowest provider of a kind; kinds of one port share it. Null if no provider serves the kind. */
  function rateOf(kind: ScheduledKind): number | null {
    const limits = limitsOf(kind, rateLimits);
    if (limits.length === 0) return null;
    const slowest = Math.min(...limits.map(({ callsPerSecond }) => callsPerSecond));
    const sharing = kinds.filter((each) => each.port === kind.port).length;
    return (slowest * RECORD_RATE_SHARE) / sharing;
  }

  function optionsOf({ kind, isAnyAge }: ScheduledKind, perSecond: number) {
    const age = isAnyAge ? 'of any age' : `of the last ${days} days`;
    const counts = { asked: 0, unanswered: 0, differing: 0, settled: 0 };
    const from = { position: null, counts, pageRepeats: PAGE_REPEATS };
    const input: RecordReconciliationInput = { kind, days, perSecond, ...from };
    return workflowEvery(everyMs, {
      workflowType: 'recordReconciliation',
      workflowId: recordReconciliationId(taskQueue, kind),
      taskQueue,
      input,
      summary: `${kind} ${age}, compared with their providers`,
    });
  }

  return {
    /** Makes the Schedule of each kind agree with the settings. An operator's pause is kept. */
    async keep(): Promise<void> {
      for (const each of kinds) {
        const perSecond = days === 0 ? null : rateOf(each);
        const id = recordReconciliationId(taskQueue, each.kind);
        await keepSchedule(client, id, perSecond === null ? null : optionsOf(each, perSecond));
      }
    },
  };
}
