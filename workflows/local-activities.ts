import { proxyLocalActivities, type LocalActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';

let last: Promise<unknown> = Promise.resolve();

/**
 * Activities that run where their workflow does, one at a time in each run (which has these modules for itself). Several
 * at once resolve as they come, but in a replay as they began: a run that went on differently could not be taken up
 * again (github.com/temporalio/sdk-python/issues/1578). The one way to them: lint keeps the SDK's own out of other files.
 */
export function localActivities(options: LocalActivityOptions) {
  const activities = proxyLocalActivities<Activities>(options);
  return new Proxy(activities, {
    get(_, name: keyof Activities) {
      const call = activities[name] as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => {
        const answer = last.then(() => call(...args));
        last = answer.catch(() => undefined);
        return answer;
      };
    },
  });
}
