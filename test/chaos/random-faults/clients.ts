import { setTimeout as sleep } from 'node:timers/promises';
import type { Workload } from './workload.js';
import type { Random } from './random.js';
import type { ChaosCluster } from './cluster.js';

/** So many at once, each of whom chooses what to do by the workloads' weights, waits for it, and chooses again. */
export function startClients(
  cluster: ChaosCluster,
  workloads: readonly Workload[],
  random: Random,
  count: number,
) {
  const total = workloads.reduce((sum, { weight }) => sum + weight, 0);
  return startLoops(cluster, count, async () => {
    let at = random.next() * total;
    const chosen = workloads.find(({ weight }) => (at -= weight) < 0);
    await chosen?.act();
    await sleep(random.between(20, 200));
  });
}

/** Every read costs what others do not get. */
const READ_EVERY_MS = 300;

/** Readers who look at what the workloads know, at any API. */
export function startReaders(
  cluster: ChaosCluster,
  workloads: readonly Workload[],
  random: Random,
  count: number,
) {
  return startLoops(cluster, count, async () => {
    await random.pick(workloads).look?.();
    await sleep(READ_EVERY_MS);
  });
}

function startLoops(cluster: ChaosCluster, count: number, round: () => Promise<void>) {
  const going = { on: true };
  async function loop(): Promise<void> {
    while (going.on && cluster.isPatient()) {
      // Who gave up at the end has nothing more to say; anything else is a mistake of the random-fault run itself.
      await round().catch((error: unknown) => {
        if (cluster.isPatient()) throw error;
      });
    }
  }
  const done = Promise.all(Array.from({ length: count }, loop));
  // Who waits for `stop` hears of it.
  done.catch(() => {});
  return {
    async stop(): Promise<void> {
      going.on = false;
      await done;
    },
  };
}
