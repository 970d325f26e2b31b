import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../shared/log.js';

/** Scrapes within this time share one reading. */
const READ_EVERY_MS = 10_000;
/** A scrape waits no longer than this for the database. */
const SCRAPE_WITHIN_MS = 2_000;

/** The last successful reading; null before the first one. `up`: the last attempt succeeded in time. */
export type Reading<T> = { value: T | null; up: boolean };

/** Reads on a scrape, at most every few seconds. While the source is away or slow, the last reading stays. */
export function createReading<T>({
  read,
  log,
  readEveryMs = READ_EVERY_MS,
}: {
  read: () => Promise<T>;
  log: Log;
  readEveryMs?: number;
}): () => Promise<Reading<T>> {
  const last: Reading<T> = { value: null, up: false };
  let readAt = -Infinity;
  let reading: Promise<void> | null = null;

  async function attempt(): Promise<void> {
    try {
      last.value = await read();
      last.up = true;
    } catch (error) {
      last.up = false;
      log.warn({ err: error }, 'metrics query failed');
    }
    readAt = performance.now();
    reading = null;
  }

  return async () => {
    if (reading === null && performance.now() - readAt < readEveryMs) return last;
    reading ??= attempt();
    const inTime = await Promise.race([
      reading.then(() => true),
      sleep(SCRAPE_WITHIN_MS, false, { ref: false }),
    ]);
    if (!inTime) last.up = false;
    return last;
  };
}
