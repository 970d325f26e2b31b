import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.js';
import type { ChaosCluster } from '../cluster.js';

/** A random choice by weight. */
export function chooseOf<T>(random: Random, from: readonly (readonly [number, T])[]): T {
  let at = random.next() * from.reduce((sum, [often]) => sum + often, 0);
  const chosen = from.find(([often]) => (at -= often) < 0) ?? from.at(-1);
  return (chosen as readonly [number, T])[1];
}

/** Repeats a request that has no idempotency key until it succeeds. Null if the run ends first. */
export async function untilDone<T>(
  cluster: ChaosCluster,
  random: Random,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  while (cluster.isPatient()) {
    const done = await attempt().catch(() => null);
    if (done !== null) return done;
    await sleep(random.between(100, 600));
  }
  return null;
}

/** Sets an outcome at the bank, as soon as the bank has what it is about. */
export const setOnceThere = (
  cluster: ChaosCluster,
  random: Random,
  set: () => Promise<number>,
): Promise<number | null> =>
  untilDone(cluster, random, async () => {
    const status = await set();
    return status === 404 || status >= 500 ? null : status;
  });

/** A random choice that prefers recent items, which are more likely to be open. */
export const pickRecent = <T>(random: Random, from: readonly T[]): T =>
  random.pick(random.chance(0.8) ? from.slice(-50) : from);
