import type { ClientSession, Collection, Db } from 'mongodb';
import { ApiError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import type { Log } from '../../shared/log.js';
import type { KeyPepper } from '../../shared/key-peppers.js';
import { acrossTenants } from '../database/tenant-filters.js';
import type { Tenants } from '../tenants/store.js';
import {
  generateKey,
  isRotationDue,
  type Environment,
  type KeyKind,
  type KeyLevel,
} from './api-key.js';
import { canonicalRange } from './allowed-ips.js';
import { inUseAt, isRevokedOrExpired, type ApiKeyDocument, type NewApiKey } from './document.js';
import { createAuthentication } from './authentication.js';
import { createKeyHashes, type StoredHash } from './key-hashes.js';
import { createKnownHashes } from './known-hashes.js';
import { createKeyLookup } from './lookup.js';
import { createLastUsed } from './last-used.js';
import type { KeyScope } from './scopes.js';
import { rotateKey, type Rotated, type Rotation } from './rotate.js';

/** A key as operators see it. It contains neither the key nor its hash. */
export type ApiKeyInfo = {
  id: string;
  tenantId: string;
  kind: KeyKind;
  level: KeyLevel;
  label: string | null;
  allowedIps: string[];
  /** Null: the key is not narrowed. */
  scopes: KeyScope[] | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  replacedBy: string | null;
  /** True only for keys that are in use and older than 90 days. */
  rotationDue: boolean;
};

/** The API keys of a deployment. */
export type ApiKeys = ReturnType<typeof createApiKeys>;

/** Creates the store of API keys for one environment; keys of the other environment are refused. */
export function createApiKeys({
  db,
  peppers,
  environment,
  tenants,
  log,
  clock = () => new Date(),
}: {
  db: Db;
  peppers: readonly KeyPepper[];
  environment: Environment;
  tenants: Tenants;
  log: Log;
  clock?: () => Date;
}) {
  const keys = db.collection<ApiKeyDocument>('api_keys');
  const lookup = createKeyLookup({ keys, tenants });
  const lastUsed = createLastUsed({ keys, log });
  const knownHashes = createKnownHashes(keys);
  const hashes = createKeyHashes(peppers);

  /** Creates a key. The result is the only place where the key is ever readable. */
  async function create(
    input: NewApiKey,
    session?: ClientSession,
  ): Promise<{ id: string; key: string }> {
    if ((await tenants.get(input.tenantId)) === null) refuse('tenant', 'There is no such tenant.');
    const key = generateKey(input.kind, environment);
    const document = newDocument(input, hashes.current(key), clock());
    await keys.insertOne(document, session ? { session } : {});
    return { id: document._id, key };
  }

  return {
    create,

    /** Replaces a key; see rotate.ts. Null if the key does not exist or is not in use. */
    async rotate(id: string, how: Rotation, session?: ClientSession): Promise<Rotated | null> {
      const given = { id, ...how, now: clock() };
      const rotated = await rotateKey(keys, create, given, session);
      if (rotated) lookup.forget(id);
      return rotated;
    },

    /**
     * Revokes a key. Once this resolves, no process accepts the key for longer than a second. False if it does not
     * exist.
     */
    async revoke(id: string, session?: ClientSession): Promise<boolean> {
      const within = session ? { session } : {};
      const known = await keys.findOne({ _id: id }, { projection: { _id: 1 }, ...within });
      if (known === null) return false;
      // A repeat does not move the time of the first revocation.
      const inUse = { _id: id, revoked_at: null };
      await keys.updateOne(inUse, { $set: { revoked_at: clock() } }, within);
      lookup.forget(id);
      return true;
    },

    ...keyQueries(keys, clock),

    ...createAuthentication({ lookup, knownHashes, lastUsed, hashes, environment, clock }),

    /** Resolves when nothing is read or written in the background. Await it before closing the database. */
    idle: async () => void (await Promise.all([lastUsed.idle(), knownHashes.idle()])),
  };
}

/** Queries for operators. */
function keyQueries(keys: Collection<ApiKeyDocument>, clock: () => Date) {
  return {
    async get(id: string, session?: ClientSession): Promise<ApiKeyInfo | null> {
      const document = await keys.findOne({ _id: id }, session ? { session } : {});
      return document && toInfo(document, clock());
    },

    async list(tenantId: string): Promise<ApiKeyInfo[]> {
      const found = await keys
        .find({ tenant_id: tenantId })
        .sort({ created_at: 1, _id: 1 })
        .toArray();
      return found.map((document) => toInfo(document, clock()));
    },

    /** The oldest keys in use of all tenants. */
    async oldestInUse(limit: number): Promise<ApiKeyInfo[]> {
      const now = clock();
      const found = await keys
        .find(inUseAt(now), acrossTenants('report'))
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map((document) => toInfo(document, now));
    },
  };
}

function newDocument(input: NewApiKey, hash: Required<StoredHash>, now: Date): ApiKeyDocument {
  return {
    _id: newId('apiKey'),
    ...hash,
    tenant_id: input.tenantId,
    kind: input.kind,
    level: input.level,
    label: input.label ?? null,
    allowed_ips: (input.allowedIps ?? []).map(
      (text) => canonicalRange(text) ?? refuse('allowed_ips', 'Not an address or CIDR range.'),
    ),
    ...(input.scopes && { scopes: [...new Set(input.scopes)] }),
    created_at: now,
    last_used_at: null,
    expires_at: input.expiresAt ?? null,
    revoked_at: null,
    replaced_by: null,
  };
}

function toInfo(document: ApiKeyDocument, now: Date): ApiKeyInfo {
  const inUse = !isRevokedOrExpired(document, now) && !document.replaced_by;
  return {
    id: document._id,
    tenantId: document.tenant_id,
    kind: document.kind,
    level: document.level,
    label: document.label,
    allowedIps: document.allowed_ips,
    scopes: document.scopes ?? null,
    createdAt: document.created_at,
    lastUsedAt: document.last_used_at,
    expiresAt: document.expires_at,
    revokedAt: document.revoked_at,
    replacedBy: document.replaced_by,
    rotationDue: inUse && isRotationDue(document.created_at, now),
  };
}

function refuse(field: string, message: string): never {
  throw new ApiError('validation_error', { field, message });
}
