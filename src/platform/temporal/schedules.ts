import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type Client,
  type ScheduleOptions,
} from '@temporalio/client';
import { TEMPORAL_DEADLINE_MS } from './client.js';

/** The parts of a Schedule that the settings decide. */
type Options = Pick<ScheduleOptions, 'spec' | 'action' | 'policies'>;

/** Creates or updates a Schedule, or deletes it if `options` is null. An operator's pause is kept. */
export async function keepSchedule(
  client: Client,
  scheduleId: string,
  options: Options | null,
): Promise<void> {
  const within = <T>(call: () => Promise<T>): Promise<T> =>
    client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, call);
  const handle = client.schedule.getHandle(scheduleId);
  try {
    if (options === null) return await within(() => handle.delete());
    await within(() => handle.update(({ state }) => ({ ...options, state })));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    if (options === null) return;
    try {
      await within(() => client.schedule.create({ scheduleId, ...options }));
    } catch (raced) {
      // Another process has just created it.
      if (!(raced instanceof ScheduleAlreadyRunning)) throw raced;
    }
  }
}
