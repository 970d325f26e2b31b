import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.js';
import type { ChaosCluster } from '../cluster.js';

/** One of these, each as often as its number says. */
export function chooseOf<T>(random: Random, from: readonly (readonly [number, T])[]): T {
  let at = random.next() * from.reduce((sum, [often]) => sum + often, 0);
  const chosen = from.find(([often]) => (at -= often) < 0) ?? from.at(-1);
  return (chosen as readonly [number, T])[1];
}

/** What is not a POST of ours, and has no key: tried until it comes to something. Null: for who has waited until the end. */
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

/** Rather what is under way than what is long over. */
export const pickRecent = <T>(random: Random, from: readonly T[]): T =>
  random.pick(random.chance(0.8) ? from.slice(-50) : from);
