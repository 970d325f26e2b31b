import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, startOf, type ProcessIdentity } from './lock.js';

/** The end of a child as a readable text; `self` is true if no signal from us caused it. */
export type End = { reason: string; self: boolean };

/** A child process. `ended` resolves, never rejects. */
export type Running = {
  pid: number;
  ended: Promise<End>;
  hasEnded(): boolean;
  /** Sends SIGTERM, and SIGKILL after the grace period. Resolves when the process is gone. */
  stop(graceMs: number): Promise<void>;
};

/** Settings of a child process. */
type Launch = {
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  logFile: string;
};

const LOG_LIMIT_BYTES = 20 * 1024 * 1024;

/**
 * Starts a process in a group of its own, so that Ctrl-C reaches only the supervisor. Its output is appended to a
 * file, so it survives the supervisor without a broken pipe.
 */
export function launch({ command, args, env, cwd, logFile }: Launch): Running {
  mkdirSync(dirname(logFile), { recursive: true });
  if (sizeOf(logFile) > LOG_LIMIT_BYTES) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(command, args, {
    cwd,
    env: env ?? process.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return asRunning(child);
}

function asRunning(child: ChildProcess): Running {
  let how: End | null = null;
  const ended = new Promise<End>((resolve) => {
    const end = (self: boolean, reason: string) => {
      how ??= { reason, self };
      resolve(how);
    };
    child.once('error', (error) => end(true, `could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      end(signal === null, signal ? `was ended by ${signal}` : `exited with ${code}`);
    });
  });
  const hasEnded = () => how !== null;
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded,
    async stop(graceMs) {
      if (hasEnded()) return;
      child.kill('SIGTERM');
      const gone = await Promise.race([ended, sleep(graceMs, null, { ref: false })]);
      if (gone === null && !hasEnded()) child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The size of a file; 0 if it does not exist. */
export function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/** Returns the text that was appended to a file after the offset, at most its last 64 KiB. */
export function readFrom(file: string, offset: number): string {
  const size = sizeOf(file);
  const start = Math.max(offset, size - 64 * 1024);
  if (size <= start) return '';
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(size - start);
    const read = readSync(descriptor, buffer, 0, buffer.length, start);
    return buffer.toString('utf8', 0, read);
  } finally {
    closeSync(descriptor);
  }
}

/** Stops a process that is not a child; returns false if it survives. */
export async function stopStranger(identity: ProcessIdentity, graceMs: number): Promise<boolean> {
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!isRunning(identity)) return true;
    try {
      process.kill(identity.pid, signal);
    } catch {
      return !isRunning(identity);
    }
    for (const end = Date.now() + waitMs; Date.now() < end && isRunning(identity);) await sleep(50);
  }
  return !isRunning(identity);
}

/** A process with its command line. */
export type ProcessEntry = ProcessIdentity & { args: string[] };

/** Lists every visible process with its arguments. Without /proc, arguments are split at blanks. */
export function listProcesses(): ProcessEntry[] {
  return rawProcesses().flatMap(({ pid, args }) => {
    const started = startOf(pid);
    return started === null || args.length === 0 ? [] : [{ pid, started, args }];
  });
}

function rawProcesses(): { pid: number; args: string[] }[] {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), args: argumentsOf(Number(name)) }));
  }
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line);
    return match ? [{ pid: Number(match[1]), args: (match[2] ?? '').split(' ') }] : [];
  });
}

/** The command line of a process; empty if it has ended or is not visible. */
export function argumentsOf(pid: number): string[] {
  if (process.platform !== 'linux') return ps(pid, 'command=').split(' ');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

/** The parent of a process; null if it is unknown. */
export function parentOf(pid: number): number | null {
  if (process.platform !== 'linux') return Number(ps(pid, 'ppid=')) || null;
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) || null;
  } catch {
    return null;
  }
}

function ps(pid: number, column: string): string {
  const { stdout } = spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' });
  return (stdout ?? '').trim();
}
