import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../src/shared/package-root.js';

/** A process, told apart from a later one with the same number by when it started. */
export type ProcessIdentity = { pid: number; started: string };

export type LockAttempt<Note> =
  | { release: () => void; holder?: never }
  | { release?: never; holder: ProcessIdentity & Partial<Note> };

type LockModule = {
  /** Takes the lock, or says which living process has it. A dead holder's lock is taken over. */
  tryLock: <Note extends object>(file: string, note?: Note) => LockAttempt<Note>;
  /** Runs the work with the lock held; waits for a living holder, of which `onWait` is told once. */
  withLock: <T>(
    file: string,
    onWait: (pid: number) => void,
    work: () => T | Promise<T>,
  ) => Promise<T>;
  /** When a process started, or null if it is not running. */
  startOf: (pid: number) => string | null;
};

// Shared with scripts/setup.mjs, which has to lock before anything is compiled.
const shared: unknown = await import(pathToFileURL(join(packageRoot, 'scripts', 'lock.mjs')).href);

export const { tryLock, withLock, startOf } = shared as LockModule;

export function identityOf(pid: number): ProcessIdentity | null {
  const started = startOf(pid);
  return started === null ? null : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return startOf(identity.pid) === identity.started;
}
