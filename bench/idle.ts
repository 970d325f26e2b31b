/** Measures the idle cost of a running copy, the time until it is usable, and the latency of a POST at half load. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DevFile } from '../devstack/data-dir.js';
import { packageRoot } from '../src/shared/package-root.js';
import { openStack } from './stack.js';
import {
  closedLoop,
  isShort,
  median,
  openLoop,
  percentile,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  spreadOf,
  whole,
} from './support.js';
import { createTransferSubjects } from './transfer-subjects.js';

const ROUNDS = isShort ? 1 : 5;
/** A copy counts as idle this long after its first transfer. */
const IDLE_AFTER_MS = isShort ? 5_000 : 60_000;
const CLIENTS = 32;
const WARM_UP_MS = isShort ? 2_000 : 10_000;
const FULL_MS = isShort ? 2_000 : 10_000;
const HALF_MS = isShort ? 2_000 : 20_000;

const GOALS = { idleMb: 300, startMs: 5_000, postP99Ms: 50, helpMs: 400, helpRatio: 2 };

/** Does the same as `npm start`, in a folder that survives from one start to the next. */
function startCopy(home: string, port: number): ChildProcess {
  const env = { ...process.env, BURSAR_HOME: home, PORT: String(port) };
  // Without npm, which does not wait for the process to which it passes a signal.
  const command = 'node scripts/setup.mjs && exec node dist/devstack/start.js';
  return spawn('sh', ['-c', command], { cwd: packageRoot, env, stdio: 'ignore' });
}

async function stopCopy(copy: ChildProcess): Promise<void> {
  if (copy.exitCode !== null || copy.signalCode !== null) return;
  copy.kill('SIGTERM');
  await once(copy, 'exit');
}

/** Sends a transfer as soon as the API accepts it; resolves when it is completed. */
async function firstTransfer(copy: ChildProcess, home: string): Promise<DevFile> {
  const file = join(home, 'dev.json');
  for (; !existsSync(file); await sleep(20)) {
    if (copy.exitCode !== null) throw new Error(`npm start ended with ${copy.exitCode}`);
  }
  const dev = JSON.parse(readFileSync(file, 'utf8')) as DevFile;
  const headers = {
    authorization: `Bearer ${dev.keys.secret}`,
    'content-type': 'application/json',
    prefer: 'wait=30',
  };
  const body = JSON.stringify({
    amount_minor: 250_000,
    recipient_account: '0123456789',
    recipient_bank_code: '058',
    narration: 'the first',
  });
  for (let status = ''; status !== 'completed'; await sleep(20)) {
    const url = `${dev.api_url}/api/v1/transfers`;
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
    if (answer?.ok) ({ status } = ((await answer.json()) as { data: { status: string } }).data);
  }
  return dev;
}

/** Memory in use that belongs to this process alone, by the kernel's count. Linux only. */
function residentMb(pid: number | null): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? NaN) / 1024;
}

type Start = { startMs: number; apiMb: number; workerMb: number };

/** Starts one copy several times. The first start is not counted, because it creates the data. */
async function measureStarts(port: number): Promise<Start[]> {
  const home = mkdtempSync(join(tmpdir(), 'bursar-idle-'));
  const starts: Start[] = [];
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      process.stderr.write(`start ${round} of ${ROUNDS}\n`);
      const began = performance.now();
      const copy = startCopy(home, port);
      try {
        const dev = await firstTransfer(copy, home);
        const startMs = performance.now() - began;
        if (round === 0) continue;
        await sleep(IDLE_AFTER_MS);
        const { api, worker } = dev.pids;
        starts.push({ startMs, apiMb: residentMb(api), workerMb: residentMb(worker) });
      } finally {
        await stopCopy(copy);
      }
    }
    return starts;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const PARSER_ALONE = `import('commander').then(({ Command }) => new Command('alone').parse())`;

type Help = { helpMs: number; aloneMs: number };

/** The command line's help, compared with a program that has only the option parser. */
function measureHelp(): Help[] {
  const timeOf = (args: string[]) => {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, args, { cwd: packageRoot, stdio: 'ignore' });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
    return performance.now() - began;
  };
  const { bin } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    bin: { bursar: string };
  };
  return Array.from({ length: isShort ? 3 : 20 }, () => ({
    helpMs: timeOf([join(packageRoot, bin.bursar), '--help']),
    aloneMs: timeOf(['--eval', PARSER_ALONE, '--', '--help']),
  }));
}

type HalfLoad = { perSecond: number; p50Ms: number; p99Ms: number };

async function measureHalfLoad(): Promise<{ runs: HalfLoad[]; versions: Record<string, string> }> {
  const stack = await openStack();
  try {
    const { subjects, versions, stopPeers, close } = await createTransferSubjects(
      stack,
      CLIENTS * 8,
    );
    await stopPeers();
    const full = (forMs: number) =>
      closedLoop({ clients: CLIENTS, forMs, act: () => subjects.ours.act([]) });
    await full(WARM_UP_MS);
    const runs: HalfLoad[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      process.stderr.write(`half load ${round} of ${ROUNDS}\n`);
      const perSecond = (await full(FULL_MS)).perSecond / 2;
      const postMs: number[] = [];
      const act = () => subjects.ours.act(postMs);
      await openLoop({ rate: perSecond, forMs: HALF_MS, act });
      runs.push({ perSecond, p50Ms: percentile(postMs, 50), p99Ms: percentile(postMs, 99) });
    }
    await close();
    return { runs, versions };
  } finally {
    await stack.stop();
  }
}

const port = 31_690;
const helps = measureHelp();
const starts = await measureStarts(port);
const { runs, versions } = await measureHalfLoad();
printMachine(versions, {});
const of = <Run>(all: Run[], pick: (run: Run) => number) => all.map(pick);
printTable(
  ['', 'median'],
  [
    ['API, idle, MB', whole(median(of(starts, ({ apiMb }) => apiMb)))],
    ['worker, idle, MB', whole(median(of(starts, ({ workerMb }) => workerMb)))],
    ['half load, transfers/s', whole(median(of(runs, ({ perSecond }) => perSecond)))],
    ['POST at half load, p50 ms', whole(median(of(runs, ({ p50Ms }) => p50Ms)))],
  ],
);
printGoals([
  {
    what: 'API and worker, idle',
    goal: { most: GOALS.idleMb },
    unit: 'MB',
    measured: spreadOf(of(starts, ({ apiMb, workerMb }) => apiMb + workerMb)),
  },
  {
    what: '`npm start`, warm, to the first completed transfer',
    goal: { most: GOALS.startMs },
    unit: 'ms',
    measured: spreadOf(of(starts, ({ startMs }) => startMs)),
  },
  {
    what: 'POST at half load, p99',
    goal: { most: GOALS.postP99Ms },
    unit: 'ms',
    measured: spreadOf(of(runs, ({ p99Ms }) => p99Ms)),
  },
  {
    what: '`bursar --help`',
    goal: { most: GOALS.helpMs },
    unit: 'ms',
    measured: spreadOf(of(helps, ({ helpMs }) => helpMs)),
  },
  {
    what: '`bursar --help` over the parser of options alone',
    goal: { most: GOALS.helpRatio },
    measured: ratioOf(
      of(helps, ({ helpMs }) => helpMs),
      of(helps, ({ aloneMs }) => aloneMs),
    ),
  },
]);
