import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Process ids by the name under which their time is printed. */
export type Processes<Name extends string> = Record<Name, number>;

/** Linux reports hundredths of a second, independent of the kernel's own tick. */
const TICKS_PER_SECOND = 100;
const CALM_WINDOW_MS = 200;
/** Share of one core; an idle mongod or Temporal uses far less. */
const CALM_BELOW = 0.15;
const CALM_WITHIN_MS = 15_000;

/** Processor time of a process and its children, such as the backends of PostgreSQL. */
const cpuMs = (pid: number): number =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + ownCpuMs(each), 0);

/** The bench itself has started all measured processes, and they have names of their own. */
function childrenOf(pid: number): number[] {
  if (process.platform !== 'linux' || pid === process.pid) return [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

/** Processor time of a process since its start, in user and kernel mode, over all threads. */
function ownCpuMs(pid: number): number {
  if (process.platform === 'linux') {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name, in parentheses, and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  }
  const { stdout } = spawnSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' });
  return parseTime(stdout.trim());
}

/** Parses `[[days-]hours:]minutes:seconds[.fraction]`, the format of `ps`. */
function parseTime(text: string): number {
  const [clock = '', days = '0'] = text.split('-').toReversed();
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

function readCpu<Name extends string>(processes: Processes<Name>): Record<Name, number> {
  return mapValues(processes, cpuMs);
}

/** A result with the processor time of each process. */
export type Measured<Name extends string, Result> = {
  result: Result;
  usedMs: Record<Name, number>;
  /** The share of the machine, 0 to 1, that other processes used meanwhile. */
  othersShare: number;
};

/** Runs `work`, waits until its processes are calm, and returns the processor time of each until then. */
export async function measureCpu<Name extends string, Result>(
  processes: Processes<Name>,
  work: () => Promise<Result>,
): Promise<Measured<Name, Result>> {
  const [before, machineBefore] = [readCpu(processes), readMachine()];
  const result = await work();
  const [during, machineAfter] = [readCpu(processes), readMachine()];
  await calm(Object.values(processes));
  const after = readCpu(processes);
  const sum = (used: Record<Name, number>) =>
    Object.values<number>(used).reduce((total, ms) => total + ms, 0);
  const othersMs = machineAfter.busyMs - machineBefore.busyMs - (sum(during) - sum(before));
  return {
    result,
    usedMs: mapValues(before, (ms, name) => after[name] - ms),
    othersShare: othersMs / (machineAfter.allMs - machineBefore.allMs),
  };
}

/** Time of all cores together. */
function readMachine(): { busyMs: number; allMs: number } {
  const total = { busyMs: 0, allMs: 0 };
  for (const { times } of cpus()) {
    const busyMs = times.user + times.nice + times.sys + times.irq;
    total.busyMs += busyMs;
    total.allMs += busyMs + times.idle;
  }
  return total;
}

const QUIET_WINDOW_MS = 500;

/** Waits until the whole machine is nearly idle, or the time is over. */
export async function waitUntilIdle({ withinMs }: { withinMs: number }): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  let calmWindows = 0;
  for (let before = readMachine(); performance.now() < giveUpAt && calmWindows < 2;) {
    await sleep(QUIET_WINDOW_MS);
    const now = readMachine();
    const share = (now.busyMs - before.busyMs) / (now.allMs - before.allMs);
    calmWindows = share < CALM_BELOW ? calmWindows + 1 : 0;
    before = now;
  }
}

/** Waits until these processes are nearly idle, so the remaining work of one subject is not charged to the next. */
async function calm(pids: readonly number[]): Promise<void> {
  const total = () => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const giveUpAt = performance.now() + CALM_WITHIN_MS;
  for (let before = total(); performance.now() < giveUpAt;) {
    const since = performance.now();
    await sleep(CALM_WINDOW_MS);
    const now = total();
    if (now - before < CALM_BELOW * (performance.now() - since)) return;
    before = now;
  }
}

function mapValues<Name extends string, In, Out>(
  record: Record<Name, In>,
  map: (value: In, name: Name) => Out,
): Record<Name, Out> {
  const entries = Object.entries(record) as [Name, In][];
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)])) as Record<
    Name,
    Out
  >;
}
