import { setTimeout as sleep } from 'node:timers/promises';
import type { Workload } from './workload.js';
import type { Random } from './random.js';
import type { ChaosCluster } from './cluster.js';

/** Starts concurrent clients. Each one chooses a workload by weight, waits for its request, and chooses again. */
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

/** Reads take capacity from the requests of other clients, so readers pause. */
const READ_EVERY_MS = 300;

/** Starts readers of the resources that the workloads created, at any API. */
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
      // Errors after the run has given up are expected; any earlier error is a defect of the run itself.
      await round().catch((error: unknown) => {
        if (cluster.isPatient()) throw error;
      });
    }
  }
  const done = Promise.all(Array.from({ length: count }, loop));
  // `stop` awaits and reports the rejection; without this handler Node would report it as unhandled first.
  done.catch(() => {});
  return {
    async stop(): Promise<void> {
      going.on = false;
      await done;
    },
  };
}
