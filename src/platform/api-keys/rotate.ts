import type { Collection } from 'mongodb';
import type { ApiKeyDocument, NewApiKey } from './document.js';

export type Rotation = {
  /** How long the old key goes on. */
  overlapMs: number;
  /** Of the new key, which otherwise lives as long as the old one was made to live. */
  expiresAt?: Date | undefined;
};
export type Rotated = { id: string; key: string; oldExpiresAt: Date; oldHash: string };

/** Makes a key to take the place of another, like it in all that it may do, and lets the old one end. */
export async function rotateKey(
  keys: Collection<ApiKeyDocument>,
  create: (input: NewApiKey) => Promise<{ id: string; key: string }>,
  id: string,
  { overlapMs, expiresAt }: Rotation,
  now: Date,
): Promise<Rotated | null> {
  const inUse = {
    _id: id,
    revoked_at: null,
    replaced_by: null,
    $or: [{ expires_at: null }, { expires_at: { $gt: now } }],
  };
  const old = await keys.findOne(inUse);
  if (old === null) return null;
  const until = expiresAt ?? sameLife(old, now);
  // The new key first: dying in between leaves a key that nobody was shown, and the old one as it was.
  const made = await create({
    tenantId: old.tenant_id,
    level: old.level,
    kind: old.kind,
    allowedIps: old.allowed_ips,
    ...(old.label !== null && { label: old.label }),
    ...(until && { expiresAt: until }),
  });
  const end = new Date(now.getTime() + overlapMs);
  const oldExpiresAt = old.expires_at !== null && old.expires_at < end ? old.expires_at : end;
  const { modifiedCount } = await keys.updateOne(inUse, {
    $set: { replaced_by: made.id, expires_at: oldExpiresAt },
  });
  if (modifiedCount === 1) return { ...made, oldExpiresAt, oldHash: old.hash };
  // Somebody else was faster.
  await keys.deleteOne({ _id: made.id });
  return null;
}

function sameLife(old: ApiKeyDocument, now: Date): Date | null {
  if (old.expires_at === null) return null;
  return new Date(now.getTime() + old.expires_at.getTime() - old.created_at.getTime());
}
