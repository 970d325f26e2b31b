import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from './workload.js';
import type { Random } from './random.js';
import type { StormStage } from './cluster.js';

/** So many at once, each of whom chooses what to do by the actors' weights, waits for it, and chooses again. */
export function startClients(
  stage: StormStage,
  actors: readonly Actor[],
  random: Random,
  count: number,
) {
  const total = actors.reduce((sum, { weight }) => sum + weight, 0);
  return startLoops(stage, count, async () => {
    let at = random.next() * total;
    const chosen = actors.find(({ weight }) => (at -= weight) < 0);
    await chosen?.act();
    await sleep(random.between(20, 200));
  });
}

/** Every read costs what others do not get. */
const READ_EVERY_MS = 300;

/** Readers who look at what the actors know, at any API. */
export function startReaders(
  stage: StormStage,
  actors: readonly Actor[],
  random: Random,
  count: number,
) {
  return startLoops(stage, count, async () => {
    await random.pick(actors).look?.();
    await sleep(READ_EVERY_MS);
  });
}

function startLoops(stage: StormStage, count: number, round: () => Promise<void>) {
  const going = { on: true };
  async function loop(): Promise<void> {
    while (going.on && stage.isPatient()) {
      // Who gave up at the end has nothing more to say; anything else is a mistake of the storm itself.
      await round().catch((error: unknown) => {
        if (stage.isPatient()) throw error;
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
