import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import type { Tenants } from '../tenants/store.js';
import type { Tenant } from '../tenants/tenant.js';
import { createAllowList } from './allowed-ips.js';
import type { ApiKeyDocument } from './document.js';

/** A revocation takes effect in every process within a second; this value leaves 200 ms for the read. */
const REMEMBERED_MS = 800;
/** Bounds the memory that guessed keys take. Far above the number of keys in use within a second. */
const MAX_REMEMBERED = 10_000;

/** A key with its tenant and the test of its allow-list. */
export type FoundKey = {
  key: ApiKeyDocument;
  tenant: Tenant;
  allows: (address: string) => boolean;
};

/**
 * Finds keys with their tenants by their possible hashes, null for unknown ones, and caches both for less than a second. The
 * time counts from the BEGINNING of the load: counted from its end, a slow read could be served long after a revocation.
 * Callers that come during a load share it. A failed load is not cached.
 */
export function createKeyLookup({
  keys,
  tenants,
}: {
  keys: Collection<ApiKeyDocument>;
  tenants: Tenants;
}) {
  /** By the first of the hashes. */
  const loads = new LRUCache<string, Promise<FoundKey | null>>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
  });
  /** The first hash of each key, for `forget`. */
  const firstHashes = new LRUCache<string, string>({ max: MAX_REMEMBERED });

  async function load(hashes: readonly string[]): Promise<FoundKey | null> {
    const key = await keys.findOne({ hash: { $in: hashes } });
    const tenant = key && (await tenants.get(key.tenant_id));
    if (key) firstHashes.set(key._id, String(hashes[0]));
    return key && tenant && { key, tenant, allows: createAllowList(key.allowed_ips) };
  }

  return {
    /** The hashes of one key under every pepper, always in the same order. */
    get(hashes: readonly string[]): Promise<FoundKey | null> {
      const hash = String(hashes[0]);
      const known = loads.get(hash);
      if (known !== undefined) return known;
      const loading = load(hashes);
      loads.set(hash, loading);
      loading.catch(() => loads.peek(hash) === loading && loads.delete(hash));
      return loading;
    },
    /** Removes the key from the cache of this process, so that the next caller reads it again. */
    forget(id: string): void {
      loads.delete(firstHashes.get(id) ?? '');
    },
  };
}
