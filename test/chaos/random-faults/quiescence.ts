import { setTimeout as sleep } from 'node:timers/promises';
import { countOpen, nothingOpen } from './checker.js';
import type { ChaosCluster } from './cluster.js';

export type Quiescence = {
  isQuiet: boolean;
  /** Counts of open work, by seconds since the wait began. */
  waited: Record<string, object>;
};

/** Counts in a row without open work: one may fall between the end of one piece of work and the beginning of the next. */
export const QUIET_COUNTS = 2;

/** Waits until no work is open, or until the open work has not decreased for `stuckAfterMs`. */
export async function waitForQuiescence(
  cluster: ChaosCluster,
  stuckAfterMs: number,
  push: () => Promise<void>,
): Promise<Quiescence> {
  const waited: Record<string, object> = {};
  const began = performance.now();
  let fewest = Infinity;
  let quiet = 0;
  for (let since = began; performance.now() - since < stuckAfterMs;) {
    await push();
    const open = (await countOpen(cluster)).filter(([, count]) => count > 0);
    const seconds = Math.floor((performance.now() - began) / 60_000) * 60;
    waited[`${seconds} s`] ??= Object.fromEntries(open);
    const sum = open.reduce((total, [, count]) => total + count, 0);
    quiet = sum === 0 ? quiet + 1 : 0;
    if (quiet === QUIET_COUNTS) return { isQuiet: true, waited };
    // Work after a count without any is new.
    if (sum < fewest) [fewest, since] = [sum || Infinity, performance.now()];
    await sleep(1_000);
  }
  return { isQuiet: false, waited };
}

/** Work that is open again after a quiet period. A late effect, such as a second payment, would appear only then. */
export async function resumedWork(cluster: ChaosCluster, afterMs: number): Promise<string[]> {
  await sleep(afterMs);
  const open = await nothingOpen(cluster);
  return open.map((what) => `${what}, and nothing was ${afterMs / 1_000} s before`);
}
