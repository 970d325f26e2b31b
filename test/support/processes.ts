import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.js';

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** A process of ours, from dist/ as in production, that a test can end, freeze and start again. */
export type ManagedProcess = {
  /** Starts it with its settings, again if it has ended, and resolves when it is ready. */
  start(): Promise<void>;
  /** Ends it at once, as a crash would, also when it is frozen. */
  kill(): Promise<void>;
  /** Asks it to end, and says how it did. */
  stop(): Promise<Exit>;
  freeze(): void;
  thaw(): void;
  signal(which: NodeJS.Signals): void;
  isRunning(): boolean;
  /** All that it has printed, over all its lives. */
  output(): string;
};

export type ProcessSettings = {
  name: string;
  script: string;
  env: Record<string, string>;
  logFile: string;
  reaper: Reaper;
  /** Whether the present life can be used; `output` is what it has printed so far. May throw for no. */
  isReady: (output: string) => Promise<boolean> | boolean;
};

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

function spawnToFile(script: string, env: Record<string, string>, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, ['--enable-source-maps', script], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return child;
}

export type Reaper = {
  started(child: Pick<ChildProcess, 'pid' | 'once'>): void;
  close(): Promise<void>;
};

/**
 * Makes sure that nothing outlives this test file, however it ends, kill -9 and jest's own time limit included: neither
 * processes nor the folder of their logs and data.
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

/** Ready when this address answers 2xx. */
export const answers = (url: string) => async () =>
  (await fetch(url, { signal: AbortSignal.timeout(3_000) })).ok;
