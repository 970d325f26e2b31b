import type { Db, Document, Filter } from 'mongodb';
import type { SealedField } from '../database/sealed-field.js';
import { acrossTenants } from '../database/tenant-filters.js';
import { indexPurpose, placeOf, type SealedCollection } from './sealed-fields.js';
import type { Sealing } from './sealing.js';

/** The place in the database from which a re-seal continues: the records of a collection after this id. */
export type ResealPosition = { collection: string; after: string | null };

/** One step of a re-seal. `unopened`: values that no key of the list opens. `next` is null at the end. */
export type ResealStep = { resealed: number; unopened: number; next: ResealPosition | null };

/** Opens a value of an owner that is in the form of an earlier release; null if it is not. */
export type OpenEarlier = (value: string, record: string) => string | null;

type ResealOptions = { from: ResealPosition | null; forMs: number; openEarlier?: OpenEarlier };

/** Records that are read at once. */
const BATCH = 200;

type Stored = Document & { _id: string };

/**
 * Seals values under the first key that are sealed under another one, or not at all: from a position on, for about
 * `forMs`. `db` is the database without the wrapper. It may be stopped at any moment and run beside anything: a record that
 * was changed meanwhile keeps its newer value, and a later run finds what is left.
 */
export async function reseal(
  db: Db,
  sealing: Sealing,
  collections: readonly SealedCollection[],
  { from, forMs, openEarlier = () => null }: ResealOptions,
): Promise<ResealStep> {
  const until = performance.now() + forMs;
  const step: ResealStep = { resealed: 0, unopened: 0, next: from };
  const begin = collections.findIndex(({ name }) => name === from?.collection);
  for (const collection of collections.slice(Math.max(0, begin))) {
    let after = collection.name === from?.collection ? from.after : null;
    for (;;) {
      const records = await outdated(db, sealing, collection, after);
      if (records.length === 0) break;
      for (const record of records) {
        const { changed, unopened } = await resealRecord(
          db,
          { sealing, openEarlier },
          collection,
          record,
        );
        step.resealed += changed ? 1 : 0;
        step.unopened += unopened;
      }
      after = records.at(-1)?._id ?? null;
      if (performance.now() > until) {
        return { ...step, next: { collection: collection.name, after } };
      }
    }
  }
  return { ...step, next: null };
}

/** The number of records that need this key, by collection. Collections without any are left out. */
export async function usesOf(
  db: Db,
  collections: readonly SealedCollection[],
  keyId: string,
): Promise<Record<string, number>> {
  const uses: Record<string, number> = {};
  for (const { name, sealed } of collections) {
    const $or = sealed.map(({ path }) => ({ [path]: { $regex: `^${keyId}\\.` } }));
    const count = await db.collection(name).countDocuments({ $or }, acrossTenants('report'));
    if (count > 0) uses[name] = count;
  }
  return uses;
}

/** The number of records with a value of an owner in the form of an earlier release, which has no id of a key. */
export async function earlierFormsOf(
  db: Db,
  collections: readonly SealedCollection[],
): Promise<Record<string, number>> {
  const uses: Record<string, number> = {};
  for (const { name, sealed } of collections) {
    const $or = sealed
      .filter(({ byOwner }) => byOwner)
      .map(({ path }) => ({ [path]: { $regex: '^[^.]+$' } }));
    if ($or.length === 0) continue;
    const count = await db.collection(name).countDocuments({ $or }, acrossTenants('report'));
    if (count > 0) uses[name] = count;
  }
  return uses;
}

/** Records with a value that is not sealed under the first key, in the order of their ids. */
async function outdated(
  db: Db,
  sealing: Sealing,
  { name, sealed }: SealedCollection,
  after: string | null,
): Promise<Stored[]> {
  const fields = sealed.filter(isResealable);
  if (fields.length === 0) return [];
  const $or = fields.map(({ path }) => ({ [path]: { $regex: `^(?!${sealing.currentKeyId}\\.)` } }));
  const filter: Filter<Stored> = { $or, ...(after !== null && { _id: { $gt: after } }) };
  return db
    .collection<Stored>(name)
    .find(filter, { ...acrossTenants('loop'), hint: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(BATCH)
    .toArray();
}

const isResealable = ({ hashed }: SealedField) => hashed !== true;

/** Replaces the values of one record that are as they were read. */
async function resealRecord(
  db: Db,
  { sealing, openEarlier }: Openers,
  { name, sealed }: SealedCollection,
  record: Stored,
): Promise<{ changed: boolean; unopened: number }> {
  const before: Document = {};
  const $set: Document = {};
  let unopened = 0;
  for (const field of sealed.filter(isResealable)) {
    for (const [path, value] of textsAt(record, field.path.split('.'))) {
      const text = textOf({ sealing, openEarlier }, field, record._id, value);
      if (text === undefined) continue;
      if (text === null) {
        unopened += 1;
        continue;
      }
      before[path] = value;
      $set[path] = sealing.seal(text, placeOf(field, record._id));
      if (field.index === undefined) continue;
      $set[field.index] = sealing.blindIndex(text, indexPurpose(name, field.path));
    }
  }
  if (Object.keys($set).length === 0) return { changed: false, unopened };
  const { _id, tenant_id } = record as Stored & { tenant_id?: string };
  const isUnchanged = { _id, ...(typeof tenant_id === 'string' && { tenant_id }), ...before };
  const { modifiedCount } = await db.collection<Stored>(name).updateOne(isUnchanged, { $set });
  return { changed: modifiedCount === 1, unopened };
}

type Openers = { sealing: Sealing; openEarlier: OpenEarlier };

/** The clear text of a value that is not sealed under the first key; undefined if it need not be, null if it cannot be. */
function textOf(
  { sealing, openEarlier }: Openers,
  field: SealedField,
  id: string,
  value: string,
): string | null | undefined {
  if (sealing.isCurrent(value)) return undefined;
  if (sealing.keyIdOf(value) !== null) return sealing.open(value, placeOf(field, id));
  // An owner that seals has never stored the field in clear: it is in another form, which may have no key of a list.
  return field.byOwner ? (openEarlier(value, id) ?? undefined) : value;
}

/** The texts at a path, each with its own path: that of an item of an array has its index. */
function textsAt(value: unknown, parts: readonly string[], path = ''): [string, string][] {
  const below = (part: string) => (path === '' ? part : `${path}.${part}`);
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => textsAt(item, parts, below(String(index))));
  }
  const [part, ...rest] = parts;
  if (part === undefined) return typeof value === 'string' ? [[path, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return textsAt((value as Document)[part], rest, below(part));
}
