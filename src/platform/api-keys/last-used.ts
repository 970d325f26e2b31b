import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import type { Log } from '../../shared/log.js';
import type { ApiKeyDocument } from './document.js';

const EVERY_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Records the last use of a key, at most once a minute. It never delays a request, and its failure is only logged. */
export function createLastUsed({ keys, log }: { keys: Collection<ApiKeyDocument>; log: Log }) {
  const recent = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: EVERY_MS });
  const writing = new Set<Promise<void>>();

  async function write(id: string, now: Date): Promise<void> {
    try {
      // Losing this write in a crash is harmless, so it waits neither for the journal nor for a majority.
      const concern = { writeConcern: { w: 1 } } as const;
      await keys.updateOne({ _id: id }, { $max: { last_used_at: now } }, concern);
    } catch (error) {
      log.warn({ err: error, key_id: id }, 'could not record the last use of a key');
    }
  }

  return {
    touch(id: string, now: Date): void {
      if (recent.has(id)) return;
      recent.set(id, true);
      const done = write(id, now).finally(() => writing.delete(done));
      writing.add(done);
    },
    /** Resolves when no write is in progress. */
    async idle(): Promise<void> {
      await Promise.all(writing);
    },
  };
}
