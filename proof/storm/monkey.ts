import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../test/support/bank.js';
import type { ManagedProcess } from '../../test/support/processes.js';
import type { Random } from './random.js';
import { FINAL_AFTER_MS, type StormStage } from './stage.js';

export type Act = { at: string; what: string };

/** Answers that are lost, late or wrong: beside what accounts ask for. */
const FAULTS: Fault[] = [
  { call: 'submit', kind: 'drop_before', probability: 0.05 },
  { call: 'submit', kind: 'drop_after', probability: 0.05 },
  { call: 'submit', kind: 'slow', probability: 0.05, ms: 800 },
  { call: 'lookup', kind: 'error_500', probability: 0.05 },
  { call: 'callback', kind: 'drop_before', probability: 0.1 },
];

/** Kills, freezes and disturbs, one victim after the other, and has each come back. What it has done is in `acts`. */
export function startMonkey(stage: StormStage, random: Random) {
  const { service, engines } = stage;
  const acts: Act[] = [];
  const going = { on: true };
  const note = (what: string) => void acts.push({ at: new Date().toISOString(), what });
  const named: [string, ManagedProcess][] = [
    ...service.apis.map((each, i): [string, ManagedProcess] => [`api ${i}`, each]),
    ...service.workers.map((each, i): [string, ManagedProcess] => [`worker ${i}`, each]),
    ['bank', service.bank],
  ];

  async function killProcess(): Promise<void> {
    const [name, victim] = random.pick(named);
    note(`kill ${name}`);
    await victim.kill();
    await sleep(random.between(0, 1_500));
    await victim.start();
  }
  async function killEngine(): Promise<void> {
    const victim = random.pick(engines);
    note(`kill ${victim.name}`);
    process.kill(victim.pid(), 'SIGKILL');
    await sleep(random.between(0, 1_500));
    await victim.again();
  }
  async function freeze(): Promise<void> {
    const [name, victim] = random.pick(named);
    note(`freeze ${name}`);
    victim.freeze();
    await sleep(random.between(200, FINAL_AFTER_MS / 2));
    victim.thaw();
  }
  async function disturb(): Promise<void> {
    note('faults at the bank');
    await service.bank.faults(FAULTS).catch(() => {});
    await sleep(random.between(1_000, 4_000));
    await service.bank.faults([]).catch(() => {});
  }

  async function run(): Promise<void> {
    while (going.on) {
      const dice = random.next();
      await (dice < 0.55
        ? killProcess()
        : dice < 0.7
          ? killEngine()
          : dice < 0.9
            ? freeze()
            : disturb());
      await sleep(random.between(200, 2_000));
    }
    await service.bank.faults([]);
  }

  const done = run();
  // Who waits for `stop` hears of it.
  done.catch(() => {});
  return {
    acts,
    kills: () => acts.filter(({ what }) => what.startsWith('kill')).length,
    async stop(): Promise<void> {
      going.on = false;
      await done;
    },
  };
}
