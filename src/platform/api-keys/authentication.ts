import { LRUCache } from 'lru-cache';
import { ApiError } from '../../shared/errors.js';
import type { Tenant } from '../tenants/tenant.js';
import {
  isRotationDue,
  parseKey,
  type Environment,
  type KeyKind,
  type KeyLevel,
} from './api-key.js';
import { isRevokedOrExpired } from './document.js';
import type { KeyHashes } from './key-hashes.js';
import type { createLastUsed } from './last-used.js';
import type { createKnownHashes } from './known-hashes.js';
import type { KeyScope } from './scopes.js';
import type { createKeyLookup, FoundKey } from './lookup.js';

/** The caller of a request, once its key has been accepted. */
export type AuthenticatedKey = {
  id: string;
  tenant: Tenant;
  level: KeyLevel;
  kind: KeyKind;
  /** Null: the key is not narrowed. */
  scopes: readonly KeyScope[] | null;
  createdAt: Date;
  rotationDue: boolean;
};

/** Bounds the memory of accepted keys, and that of revoked and expired ones. Far above the number of keys that are in use. */
const MAX_REMEMBERED = 10_000;

/** Creates the check of API keys for one environment; keys of the other environment are refused. */
export function createAuthentication({
  lookup,
  knownHashes,
  lastUsed,
  hashes,
  environment,
  clock,
}: {
  lookup: ReturnType<typeof createKeyLookup>;
  knownHashes: Pick<ReturnType<typeof createKnownHashes>, 'mayHave'>;
  lastUsed: ReturnType<typeof createLastUsed>;
  hashes: KeyHashes;
  environment: Environment;
  clock: () => Date;
}) {
  /** The last result of keys that exist: true for an accepted one, false for a revoked or expired one. */
  const remembered = new LRUCache<string, boolean>({ max: MAX_REMEMBERED });

  return {
    /**
     * Identifies the caller. Throws the `ApiError` for the caller: `invalid_key` (malformed, without a look-up),
     * `wrong_environment`, `unauthorized` (unknown), `expired_key` (also revoked), `ip_not_allowed`. `onFound` gets a
     * key that exists before it is accepted or refused.
     */
    async authenticate(
      token: string,
      address: string,
      onFound: (key: { id: string; tenantId: string }) => void = () => {},
    ): Promise<AuthenticatedKey> {
      const parsed = parseKey(token);
      if (parsed === null) throw new ApiError('invalid_key');
      if (parsed.environment !== environment) throw new ApiError('wrong_environment');
      if (!parsed.intact) throw new ApiError('invalid_key');
      // Database and cache compare keyed hashes. A guess cannot steer them, so timing reveals nothing.
      const all = hashes.all(token);
      const hash = String(all[0]);
      const found = await lookup.get(all);
      const now = clock();
      if (found === null) {
        remembered.delete(hash);
        throw new ApiError('unauthorized');
      }
      if (isRevokedOrExpired(found.key, now)) remembered.set(hash, false);
      onFound({ id: found.key._id, tenantId: found.tenant.id });
      assertUsable(found, address, now);
      remembered.set(hash, true);
      const renewed = hashes.isCurrent(found.key) ? null : hashes.current(token);
      lastUsed.touch(found.key, now, renewed);
      return toAuthenticated(found, now);
    },

    /**
     * Tells, without a look-up, whether the key exists, and has not been refused as revoked or expired by this process. A key of
     * the last two seconds may be unknown, and a few others pass for one.
     */
    async isKnown(token: string): Promise<boolean> {
      const parsed = parseKey(token);
      if (parsed === null || parsed.environment !== environment || !parsed.intact) return false;
      const all = hashes.all(token);
      return remembered.get(String(all[0])) ?? knownHashes.mayHave(all);
    },
  };
}

function assertUsable({ key, allows }: FoundKey, address: string, now: Date): void {
  if (isRevokedOrExpired(key, now)) throw new ApiError('expired_key');
  if (!allows(address)) throw new ApiError('ip_not_allowed');
}

function toAuthenticated({ key, tenant }: FoundKey, now: Date): AuthenticatedKey {
  return {
    id: key._id,
    tenant,
    level: key.level,
    kind: key.kind,
    scopes: key.scopes ?? null,
    createdAt: key.created_at,
    rotationDue: isRotationDue(key.created_at, now),
  };
}
