import { setTimeout as sleep } from 'node:timers/promises';

type Run = () => Promise<void>;

/**
 * Creates a throttle by key. It runs a call at once, and then at most one more every `everyMs`: of the calls in between
 * only the latest runs. A run must not reject.
 */
export function createKeyedThrottle(everyMs: number): (name: string, run: Run) => Promise<void> {
  const waiting = new Map<string, Run | null>();
  return async (name, run) => {
    if (waiting.has(name)) return void waiting.set(name, run);
    for (let next: Run | null = run; next; next = waiting.get(name) ?? null) {
      waiting.set(name, null);
      await next();
      await sleep(everyMs);
    }
    waiting.delete(name);
  };
}
