import { setTimeout as sleep } from 'node:timers/promises';
import { untilDone } from './workloads/choosing.js';
import type { Random } from './random.js';
import type { ChaosCluster } from './cluster.js';
import { disturbancesOf, refusalsOf, type Disturbance } from './disturbances.js';
import type { Target } from './targets.js';

export type InjectedFault = { at: string; what: string };

/** Number of concurrent faults, each on another target. */
const CONCURRENT_FAULTS = 3;
/** Pause after each fault, so that some work completes between faults. */
const PAUSE_MS = [1_400, 2_600] as const;
const STARTS = 5;
/** Pause between two refusals that last for minutes, so that the records of the first one end. */
const BETWEEN_REFUSALS_MS = [60_000, 120_000] as const;

/**
 * Kills, freezes and disconnects targets, and heals each of them. `acts` lists the injected faults. `refusedForMs`: the time for
 * which the store refuses all outcomes, much longer than a local activity's series of attempts.
 */
export function startNemesis(
  cluster: ChaosCluster,
  random: Random,
  refusedForMs: readonly [number, number],
) {
  const { service, targets, links, freezeMs, isPatient } = cluster;
  const acts: InjectedFault[] = [];
  const going = { on: true };
  const busy = new Set<string>();
  const note = (what: string) => void acts.push({ at: new Date().toISOString(), what });

  /** A target has one fault at a time; otherwise a target healed of one fault would still have the other. */
  async function exclusively<T extends { name: string }>(
    of: readonly T[],
    treat: (chosen: T) => Promise<void>,
  ): Promise<void> {
    const chosen = random.pick(of);
    if (!chosen || busy.has(chosen.name)) return;
    busy.add(chosen.name);
    await treat(chosen).finally(() => busy.delete(chosen.name));
  }

  const free = <T extends { name: string }>(of: readonly T[]) =>
    of.filter(({ name }) => !busy.has(name));

  async function kill(target: Target): Promise<void> {
    note(`kill ${target.name}`);
    await target.kill();
    await sleep(random.between(0, 1_500));
    await startAgain(target);
  }

  /** Restarts a target as a supervisor does: a process that ends because its database is down is started again. */
  async function startAgain(target: Target): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await target.start();
        return;
      } catch (error) {
        note(`start ${target.name} failed: ${String(error).slice(0, 300)}`);
        if (tries === STARTS) throw error;
        await target.kill();
      }
    }
  }

  async function freeze(target: Target): Promise<void> {
    note(`freeze ${target.name}`);
    target.freeze();
    await sleep(random.between(...freezeMs));
    target.thaw();
  }

  /** Restarts and records processes that end without a fault. */
  async function supervise(): Promise<void> {
    while (going.on && isPatient()) {
      await sleep(500);
      const gone = targets.filter(({ name, isRunning }) => !busy.has(name) && !isRunning());
      for (const target of gone) {
        note(`${target.name} ended by itself`);
        await exclusively([target], startAgain);
      }
    }
  }

  const refusals = refusalsOf(cluster);
  const others = disturbancesOf(cluster, random);
  const disturbances = [...others, ...refusals];

  /** Ends early with the run. */
  async function pause(ms: number): Promise<void> {
    for (const until = performance.now() + ms; going.on && performance.now() < until;) {
      await sleep(Math.min(500, until - performance.now()));
    }
  }

  async function disturb(
    { name, on, off }: Disturbance,
    { forMs = random.between(1_000, 4_000), as = 'disturb' } = {},
  ): Promise<void> {
    // The bank may be down; the fault is then set when the bank is back.
    await untilDone(cluster, random, async () => (await on(), true));
    note(`${as}: ${name}`);
    await pause(forMs);
    await untilDone(cluster, random, async () => (await off(), true));
  }

  /** The store refuses the outcomes of each kind for seconds, then all of them for minutes, accepts them for a while, and so on. */
  async function refuse(): Promise<void> {
    for (const each of refusals) await exclusively([each], (one) => disturb(one));
    while (going.on && cluster.isPatient()) {
      const long = { forMs: random.between(...refusedForMs), as: 'disturb for long' };
      await Promise.all(refusals.map((each) => exclusively([each], (one) => disturb(one, long))));
      await pause(random.between(...BETWEEN_REFUSALS_MS));
    }
  }

  async function disconnect(link: (typeof links)[number]): Promise<void> {
    const how = random.pick(['cut', 'delay', 'reset'] as const);
    note(`${how} the link to ${link.name}`);
    await (how === 'delay' ? link.delay(random.between(50, 400)) : link[how]());
    await sleep(random.between(200, 3_000));
    await link.heal();
  }

  /** Each kind of fault once, because chance alone might leave a short run without one of them. */
  const first = [
    () => exclusively(free(targets), kill),
    () => exclusively(free(targets), freeze),
    () => exclusively(free(links), disconnect),
    ...others.map((each) => () => exclusively([each], (one) => disturb(one))),
  ];

  async function run(faults: readonly (() => Promise<void>)[]): Promise<void> {
    for (const inject of faults) await inject();
    while (going.on && isPatient()) {
      const dice = random.next();
      await (dice < 0.66
        ? exclusively(targets, kill)
        : dice < 0.77
          ? exclusively(targets, freeze)
          : dice < 0.85
            ? exclusively(links, disconnect)
            : exclusively(disturbances, (one) => disturb(one)));
      await sleep(random.between(...PAUSE_MS));
    }
  }

  const all = [
    ...Array.from({ length: CONCURRENT_FAULTS }, (_, i) =>
      run(first.filter((_, k) => k % CONCURRENT_FAULTS === i)),
    ),
    supervise(),
    refuse(),
  ];
  // If one loop fails, the others still heal their targets, because the artifacts are read from them.
  async function end(): Promise<void> {
    await Promise.allSettled(all);
    await Promise.all(all);
    await service.bank.faults([]);
  }
  const done = end();
  // `stop` awaits and reports the rejection; without this handler Node would report it as unhandled first.
  done.catch(() => {});
  return {
    acts,
    figures: () => {
      const count = (what: RegExp) => acts.filter((act) => what.test(act.what)).length;
      return {
        kills: count(/^kill/),
        freezes: count(/^freeze/),
        'links disturbed': count(/^(cut|delay|reset)/),
        'faults at the bank': count(/^disturb: faults/),
        'refusing receivers': count(/^disturb: receiver/),
        'fail-overs of the bank': count(/^disturb: the bank fails over/),
        'refused outcomes': count(/^disturb: the store/),
        'refused for long': count(/^disturb for long: the store/),
        'ended by themselves': count(/ended by itself$/),
        'failed starts': count(/^start/),
      };
    },
    async stop(): Promise<void> {
      going.on = false;
      await done;
    },
  };
}
