import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleOptions,
} from '@temporalio/client';
import { TEMPORAL_DEADLINE_MS } from './client.js';
import { searchAttributes } from './search-attributes.js';

/** The parts of a Schedule that the settings decide. */
type Options = Pick<ScheduleOptions, 'spec' | 'action' | 'policies'>;

/**
 * A Schedule that starts a workflow every `everyMs`. A run that takes longer goes on, and the next one begins after it. `provider`: the
 * one that the workflow is about, as its search attribute.
 */
export const workflowEvery = (
  everyMs: number,
  {
    summary,
    provider,
    input,
    ...workflow
  }: {
    workflowType: string;
    workflowId: string;
    taskQueue: string;
    input: unknown;
    summary: string;
    provider?: string;
  },
) => ({
  spec: { intervals: [{ every: everyMs }] },
  action: {
    type: 'startWorkflow' as const,
    ...workflow,
    args: [input],
    ...(provider !== undefined && {
      typedSearchAttributes: [{ key: searchAttributes.provider, value: provider }],
    }),
    staticSummary: summary,
  },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: everyMs },
});

const within = <T>(client: Client, call: () => Promise<T>): Promise<T> =>
  client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, call);

/** Has a Schedule start its workflow now. */
export const triggerSchedule = (client: Client, scheduleId: string): Promise<void> =>
  within(client, () => client.schedule.getHandle(scheduleId).trigger());

/** Creates or updates a Schedule, or deletes it if `options` is null. An operator's pause is kept. */
export async function keepSchedule(
  client: Client,
  scheduleId: string,
  options: Options | null,
): Promise<void> {
  const handle = client.schedule.getHandle(scheduleId);
  try {
    if (options === null) return await within(client, () => handle.delete());
    await within(client, () => handle.update(({ state }) => ({ ...options, state })));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    if (options === null) return;
    try {
      await within(client, () => client.schedule.create({ scheduleId, ...options }));
    } catch (raced) {
      // Another process has just created it.
      if (!(raced instanceof ScheduleAlreadyRunning)) throw raced;
    }
  }
}
