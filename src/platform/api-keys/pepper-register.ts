import { createHmac } from 'node:crypto';
import type { Db, Filter } from 'mongodb';
import { isDuplicate } from '../database/duplicate.js';
import { acrossTenants } from '../database/tenant-filters.js';
import { UNNAMED_PEPPER, type KeyPepper } from '../../shared/key-peppers.js';
import type { StoredHash } from './key-hashes.js';

type PepperMark = { _id: string; check: string };

const marksOf = (db: Db) => db.collection<PepperMark>('environment');
const markId = (id: string) => (id === UNNAMED_PEPPER ? 'key_pepper' : `key_pepper/${id}`);
const checkOf = ({ secret }: KeyPepper) =>
  createHmac('sha256', secret).update('mark of the key pepper').digest('base64url');

/** Keeps a keyed hash of each pepper from its first use on, for `misnamedPeppers`. */
export async function markPeppers(db: Db, peppers: readonly KeyPepper[]): Promise<void> {
  for (const pepper of peppers) {
    const first = { $setOnInsert: { check: checkOf(pepper) } };
    await marksOf(db)
      .updateOne({ _id: markId(pepper.id) }, first, { upsert: true })
      .catch((error: unknown) => {
        // Two processes opened the database for the first time at once: the mark exists now.
        if (!isDuplicate(error)) throw error;
      });
  }
}

/** The ids under which this list has another pepper than the one that the database knows. */
export async function misnamedPeppers(db: Db, peppers: readonly KeyPepper[]): Promise<string[]> {
  const ids = peppers.map(({ id }) => markId(id));
  const found = await marksOf(db)
    .find({ _id: { $in: ids } })
    .toArray();
  const known = new Map(found.map(({ _id, check }) => [_id, check]));
  return peppers
    .filter((pepper) => (known.get(markId(pepper.id)) ?? checkOf(pepper)) !== checkOf(pepper))
    .map(({ id }) => id);
}

type Hashed = StoredHash & { revoked_at: Date | null; expires_at: Date | null };

/** The number of keys in use whose hash is under each pepper, by collection. */
export async function pepperUses(db: Db): Promise<Map<string, Record<string, number>>> {
  const uses = new Map<string, Record<string, number>>();
  const inUse: Filter<Hashed> = {
    revoked_at: null,
    $or: [{ expires_at: null }, { expires_at: { $gt: new Date() } }],
  };
  for (const name of ['api_keys', 'operator_keys']) {
    const counted = await db
      .collection<Hashed>(name)
      .aggregate<{
        _id: string | null;
        keys: number;
      }>(
        [{ $match: inUse }, { $group: { _id: '$pepper_id', keys: { $sum: 1 } } }],
        acrossTenants('report'),
      )
      .toArray();
    for (const { _id, keys } of counted) {
      const id = _id ?? UNNAMED_PEPPER;
      uses.set(id, { ...uses.get(id), [name]: keys });
    }
  }
  return uses;
}
