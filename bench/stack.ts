import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadConfig, type Config } from '../src/shared/config.js';
import { compiled } from '../src/shared/package-root.js';
import { findEngine } from '../devstack/find.js';
import { startMongod } from '../devstack/mongod.js';
import { claimPort } from '../devstack/ports.js';
import { launch, readFrom, type Running } from '../devstack/processes.js';
import { startTemporal } from '../devstack/temporal.js';

/** Outside the ports of `npm start`, so that a bench can run beside it. */
const FIRST_PORT = 31_700;
/** A bound against hanging: on a busy machine several processes start at once. */
const READY_WITHIN_MS = 180_000;
const STOP_GRACE_MS = 20_000;
const NAMESPACE = 'bursar-sandbox';

const ownScript = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The product's processes run from its own build in dist/, the bench's from the bench's build. */
const SCRIPTS = {
  api: compiled('src', 'main.js'),
  worker: compiled('worker', 'main.js'),
  allInOne: compiled('worker', 'all-in-one.js'),
  bank: compiled('sandbox-bank', 'main.js'),
  bareWorker: ownScript('./peers/bare-temporal/worker.js'),
  naive: ownScript('./peers/naive/main.js'),
  dbos: ownScript('./peers/dbos/main.js'),
  restateService: ownScript('./peers/restate/main.js'),
};

type Engine = { pid: number; port: number; version: string };

/** The engines and processes of one bench. */
export type Stack = Awaited<ReturnType<typeof openStack>>;

/**
 * Opens the engines and processes of one bench, in a folder that is removed at the end. They are the real ones, with
 * the settings of `npm start`.
 */
export async function openStack() {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-bench-'));
  const running: Running[] = [];
  const secrets = {
    pepper: randomBytes(32).toString('hex'),
    bank: randomBytes(32).toString('hex'),
  };
  const logOf = (name: string) => join(folder, `${name}.log`);
  const onSpawn = (process: Running) => void running.push(process);
  let stopping: Promise<void> | null = null;

  async function stopAll(): Promise<void> {
    for (const process of running.toReversed()) await process.stop(STOP_GRACE_MS);
    rmSync(folder, { recursive: true, force: true });
  }
  const stop = () => (stopping ??= stopAll());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().then(() => process.exit(130)));
  }

  return {
    folder,
    secrets,
    stop,
    /** The log file of the process with this name. */
    logOf,
    /** Has `stop` stop this process, too. */
    onSpawn,

    /** With a port, restarts the mongod that used it before, with its data. */
    async mongod(restartPort?: number): Promise<Engine & { uri: string }> {
      const { binary, version } = await findEngine('mongod', process.env, say);
      const port = restartPort ?? (await claimPort(FIRST_PORT)).port;
      const dataDir = join(folder, 'mongod');
      const started = await startMongod({
        binary,
        dataDir,
        port,
        logFile: logOf('mongod'),
        onSpawn,
      });
      return { uri: started.uri, pid: started.pid, port, version };
    },

    async temporal(restartPort?: number): Promise<Engine & { address: string }> {
      const { binary, version } = await findEngine('temporal', process.env, say);
      const port = restartPort ?? (await claimPort(FIRST_PORT)).port;
      const dbFile = join(folder, 'temporal.db');
      const options = { binary, dbFile, port, uiPort: null, namespace: NAMESPACE };
      const started = await startTemporal({ ...options, logFile: logOf('temporal'), onSpawn });
      return { address: started.address, pid: started.pid, port, version };
    },

    freePort: async () => (await claimPort(FIRST_PORT)).port,

    /** Starts a compiled process. `name` is the name of its log, if two of a kind run. */
    node(script: keyof typeof SCRIPTS, env: NodeJS.ProcessEnv, name: string = script): Running {
      const args = ['--enable-source-maps', ...profiling(name), SCRIPTS[script]];
      const started = launch({
        command: process.execPath,
        args,
        env: { ...process.env, ...env },
        logFile: logOf(name),
      });
      onSpawn(started);
      return started;
    },

    /** The output of the process with this name. */
    outputOf: (name: string) => readFrom(logOf(name), 0),

    /** Waits until the check returns true; an error contains the process's output. */
    async until(name: string, check: () => Promise<boolean>): Promise<void> {
      for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(50)) {
        if (await check().catch(() => false)) return;
      }
      throw new Error(`${name} was not ready in time:\n${readFrom(logOf(name), 0).slice(-2_000)}`);
    },
  };
}

/** `BENCH_PROFILE=<folder>` writes a processor profile of each Node process to that folder. */
function profiling(name: string): string[] {
  const folder = process.env['BENCH_PROFILE'];
  return folder
    ? ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`]
    : [];
}

/** The environment of API, worker and bank, and the same as a config for code that runs inside the bench. */
export function environmentOf(
  { secrets, folder }: Stack,
  at: { mongodbUri: string; temporalAddress: string; bankPort: number; apiPort: number },
): { env: NodeJS.ProcessEnv; config: Config } {
  const env = {
    BURSAR_ENV: 'sandbox',
    BURSAR_KEY_PEPPER: secrets.pepper,
    PORT: String(at.apiPort),
    MONGODB_URI: at.mongodbUri,
    TEMPORAL_ADDRESS: at.temporalAddress,
    TEMPORAL_NAMESPACE: NAMESPACE,
    SANDBOX_BANK_URL: `http://127.0.0.1:${at.bankPort}`,
    SANDBOX_BANK_PORT: String(at.bankPort),
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: secrets.bank,
    // The peers have no rate limit at their bank.
    SANDBOX_BANK_CALLS_PER_SECOND: '10000',
    SANDBOX_BANK_DATA: join(folder, `bank-${at.bankPort}`),
  };
  return { env, config: loadConfig(env) };
}

/** True if the address answers a request. */
export async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) });
  await answer.arrayBuffer();
  return answer.ok;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
