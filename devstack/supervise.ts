import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from './processes.js';

export type Service = {
  name: string;
  /** How long it may take to end by itself when asked to. */
  graceMs: number;
  /** Starts it once: calls `onSpawn` as soon as it exists, resolves when it is usable. */
  start(onSpawn: (process: Running) => void): Promise<unknown>;
};

export type Supervised = {
  name: string;
  /** Resolves after the first start; rejects if that failed three times. */
  ready: Promise<void>;
  /** Of the present process, or of the last one while there is none. */
  pid: () => number | null;
  /** How often in a row it ended by itself soon after its start, or could not be started. */
  failures: () => number;
  /** Ends the present process and starts another; resolves when the next one exists. No failure is counted. */
  restart: (graceMs: number) => Promise<void>;
  /** Stops it for good, also while it is being started. */
  stop: () => Promise<void>;
};

type Hooks = { log: (line: string) => void; onSpawn: () => void };

const FIRST_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** Whoever lived this long did not fail to start. */
const SETTLED_AFTER_MS = 15_000;

/**
 * Starts a service and starts it again whenever it dies, until it is stopped. A service that is
 * killed comes back at once; one that keeps ending by itself comes back more and more slowly.
 */
export function keepRunning(service: Service, hooks: Hooks): Supervised {
  const { name, graceMs } = service;
  const stopped = new AbortController();
  let running: Running | null = null;
  let failures = 0;
  /** Ended by `restart`: neither a failure nor news. */
  let replaced: Running | null = null;
  let onNext = () => {};

  const onSpawn = (process: Running) => {
    running = process;
    onNext();
    // Asked to stop while it was being spawned.
    if (stopped.signal.aborted) void process.stop(graceMs);
    hooks.onSpawn();
  };

  async function start(attempts: number, words: (error: unknown) => string): Promise<void> {
    for (;;) {
      stopped.signal.throwIfAborted();
      try {
        await service.start(onSpawn);
        return;
      } catch (error) {
        failures += 1;
        if (stopped.signal.aborted || failures >= attempts) throw error;
        hooks.log(words(error));
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
        failures = end.self && Date.now() - since < SETTLED_AFTER_MS ? failures + 1 : 0;
        hooks.log(`${name} ${end.words}; starting it again`);
        await pause(failures, stopped.signal);
      }
      // Fails only when it is stopped.
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
