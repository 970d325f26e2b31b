import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import type { Tenants } from '../tenants/store.js';
import type { Tenant } from '../tenants/tenant.js';
import { createAllowList } from './allowed-ips.js';
import type { ApiKeyDocument } from './document.js';

/** A revocation must be seen by every process within a second; this leaves the rest of it for the read itself. */
const REMEMBERED_MS = 800;
/** Bounds what guesses can make us remember; far above the number of keys that are in use within a second. */
const MAX_REMEMBERED = 10_000;

export type FoundKey = {
  key: ApiKeyDocument;
  tenant: Tenant;
  allows: (address: string) => boolean;
};

/**
 * Finds keys with their tenants by hash, `null` for unknown ones, and remembers both for less than a second, counted
 * from the moment the load BEGAN: counted from its end, a slow read could be served long after a revocation. Callers
 * that come while a load is under way share it; a failed load is not remembered.
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
    /** The next caller in this process reads again. */
    forget(hash: string): void {
      loads.delete(hash);
    },
  };
}
