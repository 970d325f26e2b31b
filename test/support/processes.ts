import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  identityOf,
  isRunning as isSameRunning,
  type ProcessIdentity,
} from '../../devstack/lock.js';
import { eventually } from './eventually.js';
import { watchingCommands } from './logs.js';

/** The end of a process: its exit code or its signal. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** A process from dist/, as in production, that a test can end, freeze and restart. */
export type ManagedProcess = {
  /** Starts it with its settings, also after it has ended, and resolves when it is ready. */
  start(): Promise<void>;
  /** Kills it like a crash would, also when it is frozen. */
  kill(): Promise<void>;
  /** Sends SIGTERM and resolves with its exit. */
  stop(): Promise<Exit>;
  freeze(): void;
  thaw(): void;
  signal(which: NodeJS.Signals): void;
  isRunning(): boolean;
  /** Its output over all its starts. */
  output(): string;
};

/** The settings of a managed process. */
export type ProcessSettings = {
  name: string;
  script: string;
  env: Record<string, string>;
  logFile: string;
  reaper: Reaper;
  /** True if the current start is ready; `output` is what it has printed so far. Throwing counts as not ready. */
  isReady: (output: string) => Promise<boolean> | boolean;
};

/** Creates a managed process, not yet started. */
export function manageProcess(settings: ProcessSettings): ManagedProcess {
  const { name, script, env, logFile, reaper, isReady } = settings;
  let child: ChildProcess | null = null;
  let exited: Promise<Exit> = Promise.resolve({ code: null, signal: null });
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null;
  const output = () => readFileSync(logFile, 'utf8');
  const signal = (which: NodeJS.Signals) => void (isRunning() && child?.kill(which));

  return {
    async start() {
      if (isRunning()) throw new Error(`${name} runs already`);
      appendFileSync(logFile, '');
      const before = output().length;
      const life = spawnToFile(script, env, logFile);
      child = life;
      exited = once(life, 'exit').then(([code, ended]) => ({ code, signal: ended }));
      reaper.started(life);
      const found = await eventually(`${name} is ready`, async () => {
        if (!isRunning()) return 'ended';
        return (await isReady(output().slice(before))) ? 'ready' : undefined;
      });
      if (found === 'ended') {
        throw new Error(`${name} ended while it started:\n${output().slice(before).slice(-2_000)}`);
      }
    },
    async kill() {
      signal('SIGKILL');
      await exited;
    },
    async stop() {
      signal('SIGTERM');
      return exited;
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    signal,
    isRunning,
    output,
  };
}

/** The process that a file names; null if it has ended. A later process with its pid is another one. */
export function processIn(pidFile: string): ProcessIdentity | null {
  if (!existsSync(pidFile)) return null;
  const identity = JSON.parse(readFileSync(pidFile, 'utf8')) as ProcessIdentity;
  return isSameRunning(identity) ? identity : null;
}

/**
 * A process that runs on after its test file, for later ones (`shared-services.ts`). The file at `pidFile` names it. It is
 * started anew if it has ended meanwhile. Nobody may end or freeze it.
 */
export function lastingProcess({
  name,
  script,
  env,
  logFile,
  isReady,
  pidFile,
}: Omit<ProcessSettings, 'reaper'> & { pidFile: string }): ManagedProcess {
  const before = existsSync(logFile) ? readFileSync(logFile, 'utf8').length : 0;
  const output = () => readFileSync(logFile, 'utf8').slice(before);
  const refuse = () => {
    throw new Error(`${name} is shared with other test files: start a service of its own`);
  };
  return {
    async start() {
      // One that runs on has printed before that it is ready; one that is started must print it again.
      let earlier = 0;
      if (processIn(pidFile) === null) {
        earlier = before;
        const child = spawnToFile(script, env, logFile);
        child.unref();
        writeFileSync(pidFile, JSON.stringify(identityOf(Number(child.pid))));
      }
      await eventually(`${name} is ready`, async () =>
        (await isReady(readFileSync(logFile, 'utf8').slice(earlier))) ? true : undefined,
      );
    },
    kill: refuse,
    stop: refuse,
    freeze: refuse,
    thaw: refuse,
    signal: refuse,
    isRunning: () => true,
    output,
  };
}

/**
 * Source maps take 0.3 s of a processor at each start, and more for each stack. So stacks in the logs of a test name lines of
 * dist/, unless BURSAR_TEST_SOURCE_MAPS is set.
 */
const SOURCE_MAPS = process.env['BURSAR_TEST_SOURCE_MAPS'] ? ['--enable-source-maps'] : [];

function spawnToFile(script: string, env: Record<string, string>, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  const flags = [...SOURCE_MAPS, ...(env['MONGODB_URI'] ? watchingCommands() : [])];
  const child = spawn(process.execPath, [...flags, script], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return child;
}

/** Kills processes that outlive their test file. */
export type Reaper = {
  started(child: Pick<ChildProcess, 'pid' | 'once'>): void;
  close(): Promise<void>;
};

/**
 * Starts a separate process that removes the processes, logs and data of this test file, however the file ends, kill -9
 * and jest's time limit included.
 */
export function startReaper(folder: string): Reaper {
  const script = join(import.meta.dirname, 'reaper.mjs');
  const reaper = spawn(process.execPath, [script, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  reaper.stdin.on('error', () => {});
  const ended = once(reaper, 'exit');
  reaper.unref();
  return {
    started(child) {
      reaper.stdin.write(`+${child.pid}\n`);
      child.once('exit', () => reaper.stdin.writable && reaper.stdin.write(`-${child.pid}\n`));
    },
    async close() {
      reaper.stdin.end();
      await ended;
    },
  };
}

/** True if this address answers with 2xx. */
export const answers = (url: string) => async () =>
  (await fetch(url, { signal: AbortSignal.timeout(3_000) })).ok;
