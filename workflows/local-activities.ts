import { proxyLocalActivities, type LocalActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';

let last: Promise<unknown> = Promise.resolve();

/**
 * Local activities, one at a time in each run; every run has its own copy of these modules. Local activities that overlap
 * resolve in the order of their answers, but in a replay in the order of their start, so such a run could fail to replay
 * (github.com/temporalio/sdk-python/issues/1578). Lint forbids the SDK's own function in every other file.
 */
export function localActivities(options: LocalActivityOptions) {
  const activities = proxyLocalActivities<Activities>(options);
  return new Proxy(activities, {
    get(_, name: keyof Activities) {
      const call = activities[name] as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => {
        const result = last.then(() => call(...args));
        last = result.catch(() => undefined);
        return result;
      };
    },
  });
}
