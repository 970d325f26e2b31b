import type { ClientSession, Collection } from 'mongodb';
import { inUseAt, type ApiKeyDocument, type NewApiKey } from './document.js';

/** The settings of a rotation. */
export type Rotation = {
  /** Time for which the old key stays valid. */
  overlapMs: number;
  /** Expiry of the new key. By default it gets the lifetime that the old key was given. */
  expiresAt?: Date | undefined;
};
/** The new key, shown once, and the end of the old one. */
export type Rotated = { id: string; key: string; oldExpiresAt: Date };

/**
 * Creates a key with the same rights as another, and lets the other expire after the overlap. Returns null if the old
 * key is unknown, has ended, or was rotated already.
 */
export async function rotateKey(
  keys: Collection<ApiKeyDocument>,
  create: (input: NewApiKey, session?: ClientSession) => Promise<{ id: string; key: string }>,
  { id, overlapMs, expiresAt, now }: Rotation & { id: string; now: Date },
  session?: ClientSession,
): Promise<Rotated | null> {
  const within = session ? { session } : {};
  const inUse = { _id: id, ...inUseAt(now) };
  const old = await keys.findOne(inUse, within);
  if (old === null) return null;
  const until = expiresAt ?? expiryAfterSameLifetime(old, now);
  // The new key is written first: a crash in between leaves an unused key, and the old one unchanged.
  const copy = {
    tenantId: old.tenant_id,
    level: old.level,
    kind: old.kind,
    allowedIps: old.allowed_ips,
    ...(old.scopes && { scopes: old.scopes }),
    ...(old.label !== null && { label: old.label }),
    ...(until && { expiresAt: until }),
  };
  const made = await create(copy, session);
  const end = new Date(now.getTime() + overlapMs);
  const oldExpiresAt = old.expires_at !== null && old.expires_at < end ? old.expires_at : end;
  const replaced = { $set: { replaced_by: made.id, expires_at: oldExpiresAt } };
  const { modifiedCount } = await keys.updateOne(inUse, replaced, within);
  if (modifiedCount === 1) return { ...made, oldExpiresAt };
  // A concurrent rotation has won.
  await keys.deleteOne({ _id: made.id }, within);
  return null;
}

function expiryAfterSameLifetime(old: ApiKeyDocument, now: Date): Date | null {
  if (old.expires_at === null) return null;
  return new Date(now.getTime() + old.expires_at.getTime() - old.created_at.getTime());
}
