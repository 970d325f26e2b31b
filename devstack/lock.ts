import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../src/shared/package-root.js';

/** A process, distinguished by its start time from a later one with the same pid. */
export type ProcessIdentity = { pid: number; started: string };

/** The result of an attempt to take a lock. */
type LockAttempt<Note> =
  | { release: () => void; holder?: never }
  | { release?: never; holder: ProcessIdentity & Partial<Note> };

type LockModule = {
  /** Takes the lock, or returns the living process that holds it. Takes over the lock of a dead holder. */
  tryLock: <Note extends object>(file: string, note?: Note) => LockAttempt<Note>;
  /** Runs the work with the lock held; waits for a living holder, and calls `onWait` once. */
  withLock: <T>(
    file: string,
    onWait: (pid: number) => void,
    work: () => T | Promise<T>,
  ) => Promise<T>;
  /** Returns the start time of a process, or null if it is not running. */
  startOf: (pid: number) => string | null;
};

// scripts/setup.mjs needs the same locks before anything is compiled, so they are plain JavaScript.
const shared: unknown = await import(pathToFileURL(join(packageRoot, 'scripts', 'lock.mjs')).href);

/** The locks of scripts/lock.mjs, with types. */
export const { tryLock, withLock, startOf } = shared as LockModule;

/** The identity of a running process; null if it is not running. */
export function identityOf(pid: number): ProcessIdentity | null {
  const started = startOf(pid);
  return started === null ? null : { pid, started };
}

/** True if this very process still runs, and not a later one with its pid. */
export function isRunning(identity: ProcessIdentity): boolean {
  return startOf(identity.pid) === identity.started;
}
