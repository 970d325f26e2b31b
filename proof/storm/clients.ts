import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from './actor.js';
import type { Random } from './random.js';

/** So many at once, each of whom chooses what to do by the actors' weights, waits for it, and chooses again. */
export function startClients(actors: readonly Actor[], random: Random, count: number) {
  const total = actors.reduce((sum, { weight }) => sum + weight, 0);
  return startLoops(count, async () => {
    let at = random.next() * total;
    const chosen = actors.find(({ weight }) => (at -= weight) < 0);
    await chosen?.act();
    await sleep(random.between(20, 200));
  });
}

/** Readers who look at what the actors know, at any API. */
export function startReaders(actors: readonly Actor[], random: Random, count: number) {
  return startLoops(count, async () => {
    await random.pick(actors).look?.();
    await sleep(20);
  });
}

function startLoops(count: number, round: () => Promise<void>) {
  const going = { on: true };
  async function loop(): Promise<void> {
    while (going.on) await round();
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
