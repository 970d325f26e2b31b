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

  const startOnce = () =>
    service.start((process) => {
      running = process;
      // Asked to stop while it was being spawned.
      if (stopped.signal.aborted) void process.stop(graceMs);
      hooks.onSpawn();
    });

  async function startFirst(): Promise<void> {
    for (;;) {
      try {
        await startOnce();
        return;
      } catch (error) {
        failures += 1;
        if (stopped.signal.aborted || failures >= FIRST_ATTEMPTS) throw error;
        hooks.log(`${name} did not start; trying again …`);
        await pause(failures, stopped.signal);
      }
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      const since = Date.now();
      const end = await running?.ended;
      if (stopped.signal.aborted || end === undefined) return;
      const failed = end.self && Date.now() - since < SETTLED_AFTER_MS;
      failures = failed ? failures + 1 : 0;
      hooks.log(`${name} ${end.words}; starting it again`);
      await pause(failures, stopped.signal);
      while (!stopped.signal.aborted && !(await startAgain()))
        await pause(failures, stopped.signal);
    }
  }

  async function startAgain(): Promise<boolean> {
    try {
      await startOnce();
      return true;
    } catch (error) {
      failures += 1;
      if (!stopped.signal.aborted)
        hooks.log(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  const ready = startFirst();
  const life = ready.then(watch, () => undefined);
  return {
    name,
    ready,
    pid: () => running?.pid ?? null,
    failures: () => failures,
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
