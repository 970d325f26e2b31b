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
 * Finds keys with their tenants by hash, null for unknown ones, and caches both for less than a second. The time counts
 * from the BEGINNING of the load: counted from its end, a slow read could be served long after a revocation. Callers
 * that come during a load share it. A failed load is not cached.
 */
export function createKeyLookup({
  keys,
  tenants,
}: {
  keys: Collection<ApiKeyDocument>;
  tenants: Tenants;
}) {
  const loads = new LRUCache<string, Promise<FoundKey | null>>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
  });

  async function load(hash: string): Promise<FoundKey | null> {
    const key = await keys.findOne({ hash });
    const tenant = key && (await tenants.get(key.tenant_id));
    return key && tenant && { key, tenant, allows: createAllowList(key.allowed_ips) };
  }

  return {
    get(hash: string): Promise<FoundKey | null> {
      const known = loads.get(hash);
      if (known !== undefined) return known;
      const loading = load(hash);
      loads.set(hash, loading);
      loading.catch(() => loads.peek(hash) === loading && loads.delete(hash));
      return loading;
    },
    /** Removes the key from the cache of this process, so that the next caller reads it again. */
    forget(hash: string): void {
      loads.delete(hash);
    },
  };
}
