import { setTimeout as sleep } from 'node:timers/promises';

/** Long enough for the slowest path on a busy machine: a bound against hanging, not a measurement. */
const WITHIN_MS = 240_000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 150;
/** Each pause is longer than the one before: the tests take all of the processors, and a probe costs the service a request. */
const GROWTH = 1.3;

/** Polls until the probe returns a value. Throws after the bound, with the description and the last error. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  withinMs = WITHIN_MS,
): Promise<T> {
  let last: unknown;
  let pause = FIRST_PAUSE_MS;
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(pause)) {
    pause = Math.min(LONGEST_PAUSE_MS, pause * GROWTH);
    try {
      const found = await probe();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
  }
  const why = last instanceof Error ? `: ${last.message.slice(0, 2_000)}` : '';
  throw new Error(`not within ${withinMs / 1000} s: ${what}${why}`, { cause: last });
}
