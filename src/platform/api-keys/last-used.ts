import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import type { Log } from '../../shared/log.js';
import type { ApiKeyDocument } from './document.js';
import type { StoredHash } from './key-hashes.js';

const EVERY_MS = 60_000;
const MAX_REMEMBERED = 10_000;

type Used = Pick<ApiKeyDocument, '_id' | 'hash'>;
type RenewedHash = Required<StoredHash> | null;

/**
 * Records the last use of a key, at most once a minute, and replaces its hash by the one under the first pepper if it is under
 * another: only a key in use shows its text. It never delays a request, and its failure is only logged.
 */
export function createLastUsed({ keys, log }: { keys: Collection<ApiKeyDocument>; log: Log }) {
  const recent = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: EVERY_MS });
  const writing = new Set<Promise<void>>();

  async function write({ _id: id, hash }: Used, now: Date, renewed: RenewedHash): Promise<void> {
    try {
      if (renewed) await keys.updateOne({ _id: id, hash }, { $set: renewed });
      // Losing this write in a crash is harmless, so it waits neither for the journal nor for a majority.
      const concern = { writeConcern: { w: 1 } } as const;
      await keys.updateOne({ _id: id }, { $max: { last_used_at: now } }, concern);
    } catch (error) {
      log.warn({ err: error, key_id: id }, 'could not record the last use of a key');
    }
  }

  return {
    /** `renewed`: the hash under the first pepper, if the key is under another one. */
    touch(key: Used, now: Date, renewed: RenewedHash): void {
      if (recent.has(key._id)) return;
      recent.set(key._id, true);
      const done = write(key, now, renewed).finally(() => writing.delete(done));
      writing.add(done);
    },
    /** Resolves when no write is in progress. */
    async idle(): Promise<void> {
      await Promise.all(writing);
    },
  };
}
