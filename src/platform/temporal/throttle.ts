import { setTimeout as sleep } from 'node:timers/promises';

type Run = () => Promise<void>;

/**
 * Does at once what is asked for under a name, and after each time pauses; however often it is asked for meanwhile, it
 * is done once more, as the last one asked. A run must not reject.
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
