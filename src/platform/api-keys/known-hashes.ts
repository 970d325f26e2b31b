import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import { acrossTenants } from '../database/tenant-filters.js';
import type { ApiKeyDocument } from './document.js';

/** A key that was created longer ago than this is known. */
const REFRESH_AFTER_MS = 2_000;
/** Time that a request waits for the reading of the keys. */
const WAIT_MS = 2_000;
/** Keys are read again if they may have been inserted after a later one: clocks of processes differ by less. */
const OVERLAP_MS = 60_000;

/** 2 MiB. With a million keys, one guess in 2,000 passes for a known key. */
const BITS = 2 ** 24;
const PROBES = 8;

/**
 * Tells whether a hash may be that of a key, without a look-up: false for certain if there is no such key, except for keys of
 * the last moments. The memory is bounded, whatever the number of keys. They are read when they are first needed, and later
 * ones at most every two seconds. While they cannot be read, no hash is known.
 */
export function createKnownHashes(keys: Collection<ApiKeyDocument>) {
  const filter = createBloomFilter();
  /** The last id of each reading, the earliest first. */
  const readings: { at: number; lastId: string }[] = [];
  let refreshedAt = -Infinity;
  let refreshing: Promise<void> | null = null;

  async function read(): Promise<void> {
    const at = performance.now();
    while ((readings[1]?.at ?? at) < at - OVERLAP_MS) readings.shift();
    const after = readings[0]?.lastId ?? '';
    let lastId = after;
    const found = keys
      .find(
        { _id: { $gt: after }, revoked_at: null },
        { projection: { hash: 1 }, ...acrossTenants('loop') },
      )
      .sort({ _id: 1 });
    for await (const { _id, hash } of found) {
      filter.add(hash);
      lastId = _id;
    }
    readings.push({ at, lastId });
    refreshedAt = at;
  }

  function refresh(): Promise<void> {
    refreshing ??= read().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  return {
    /** The hashes of one key: any of them may be the stored one. */
    async mayHave(hashes: readonly string[]): Promise<boolean> {
      if (hashes.some(filter.has)) return true;
      if (performance.now() - refreshedAt < REFRESH_AFTER_MS) return false;
      await within(WAIT_MS, refresh());
      return hashes.some(filter.has);
    },

    /** Resolves when nothing is read. Await it before closing the database. */
    idle: async (): Promise<void> => refreshing?.catch(() => {}),
  };
}

/** Waits for the work, but no longer than the time. An error of the work ends the wait too. */
async function within(timeMs: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const timer = sleep(timeMs, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work.catch(() => {}), timer]);
  over.abort();
}

/** A set of hashes that forgets none, and takes a few others for its own. A keyed hash is random, so its bytes are its probes. */
function createBloomFilter() {
  const bits = new Uint8Array(BITS / 8);
  const probesOf = (hash: string): number[] => {
    const bytes = Buffer.from(hash, 'base64url');
    return Array.from({ length: PROBES }, (_, i) => bytes.readUInt32LE(4 * i) % BITS);
  };
  return {
    add(hash: string): void {
      for (const at of probesOf(hash)) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
    },
    has: (hash: string): boolean =>
      probesOf(hash).every((at) => ((bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0),
  };
}
