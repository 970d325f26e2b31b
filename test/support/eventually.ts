import { setTimeout as sleep } from 'node:timers/promises';

/** Long enough for the slowest path on a busy machine: a bound against hanging, not a measurement. */
const WITHIN_MS = 120_000;
const EVERY_MS = 50;

/** Polls until the probe returns a value. Throws after the bound, with the description and the last error. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  withinMs = WITHIN_MS,
): Promise<T> {
  let last: unknown;
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(EVERY_MS)) {
    try {
      const found = await probe();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`not within ${withinMs / 1000} s: ${what}`, { cause: last });
}
