import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from './processes.js';

/** A service that the supervisor can start and restart. */
export type Service = {
  name: string;
  /** Time limit for a stop after SIGTERM. */
  graceMs: number;
  /** Starts it once: calls `onSpawn` as soon as the process exists, resolves when it is usable. */
  start(onSpawn: (process: Running) => void): Promise<unknown>;
};

/** A service under supervision. */
export type Supervised = {
  name: string;
  /** Resolves after the first start; rejects if that failed three times. */
  ready: Promise<void>;
  /** The pid of the current process, or of the last one between two. */
  pid: () => number | null;
  /** Consecutive failures: ends soon after a start, or failed starts. */
  failures: () => number;
  /** Ends the current process and starts another; resolves when the new one exists. No failure is counted. */
  restart: (graceMs: number) => Promise<void>;
  /** Stops it for good, also during a start. */
  stop: () => Promise<void>;
};

type Hooks = { log: (line: string) => void; onSpawn: () => void };

const FIRST_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** A process that lives this long has started successfully. */
const STARTED_AFTER_MS = 15_000;

/**
 * Starts a service and restarts it whenever it ends, until it is stopped. A killed service is restarted at once; one
 * that keeps ending by itself is restarted with growing delays.
 */
export function keepRunning(service: Service, hooks: Hooks): Supervised {
  const { name, graceMs } = service;
  const stopped = new AbortController();
  let running: Running | null = null;
  let failures = 0;
  /** The process that `restart` ends: neither a failure nor worth a log line. */
  let replaced: Running | null = null;
  let onNext = () => {};

  const onSpawn = (process: Running) => {
    running = process;
    onNext();
    // A stop was requested while the process was being spawned.
    if (stopped.signal.aborted) void process.stop(graceMs);
    hooks.onSpawn();
  };

  async function start(attempts: number, describe: (error: unknown) => string): Promise<void> {
    for (;;) {
      stopped.signal.throwIfAborted();
      try {
        await service.start(onSpawn);
        return;
      } catch (error) {
        failures += 1;
        if (stopped.signal.aborted || failures >= attempts) throw error;
        hooks.log(describe(error));
        await pause(failures, stopped.signal);
      }
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      const since = Date.now();
      const present = running;
      const end = await present?.ended;
      if (stopped.signal.aborted || end === undefined) return;
      if (present !== replaced) {
        failures = end.self && Date.now() - since < STARTED_AFTER_MS ? failures + 1 : 0;
        hooks.log(`${name} ${end.reason}; starting it again`);
        await pause(failures, stopped.signal);
      }
      // Rejects only when it is stopped.
      await start(Infinity, messageOf).catch(() => undefined);
    }
  }

  const ready = start(FIRST_ATTEMPTS, () => `${name} did not start; trying again …`);
  const life = ready.then(watch, () => undefined);
  return {
    name,
    ready,
    pid: () => running?.pid ?? null,
    failures: () => failures,
    async restart(grace) {
      const next = new Promise<void>((resolve) => (onNext = resolve));
      replaced = running;
      await replaced?.stop(grace);
      await Promise.race([next, life]);
    },
    async stop() {
      stopped.abort();
      await running?.stop(graceMs);
      await life;
    },
  };
}

async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  await sleep(pauseMs, null, { signal }).catch(() => null);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
