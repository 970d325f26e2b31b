import { isDeepStrictEqual } from 'node:util';
import type { CollectionInfo, Db } from 'mongodb';
import { isSameIndex } from './indexes.js';
import { missing, wantedOf, type CollectionSpec, type Migration } from './migrations.js';

/** A difference between the database and its migrations. */
type SchemaProblem = {
  /** Description for operators. */
  description: string;
  /** Id of the migration that corrects it. */
  migration: string;
};

/**
 * Finds the migrations that are not applied, and the collections, validators and indexes that are missing or different.
 */
export async function inspectSchema(
  db: Db,
  migrations: readonly Migration[],
): Promise<SchemaProblem[]> {
  const unapplied = await missing(db, migrations);
  const problems = unapplied.map(({ id }) => ({ description: 'is not applied', migration: id }));
  const present = new Map((await db.listCollections().toArray()).map((info) => [info.name, info]));
  for (const [spec, migration] of wantedOf(migrations)) {
    const info = present.get(spec.name);
    const found = info ? await inspectCollection(db, spec, info) : ['is missing'];
    problems.push(
      ...found.map((description) => ({ description: `${spec.name} ${description}`, migration })),
    );
  }
  return problems;
}

/**
 * The indexes and collections by which MongoDB removes documents and which no migration declares, as `collection (index)`. Whoever
 * may create indexes can make MongoDB remove what nobody may remove. Collections of MongoDB itself (`system.`) are left out.
 */
export async function undeclaredExpiries(
  db: Db,
  migrations: readonly Migration[],
): Promise<string[]> {
  const declared = new Map(wantedOf(migrations).map(([spec]) => [spec.name, spec.indexes]));
  const found: string[] = [];
  const all = await db.listCollections<CollectionInfo>({ type: 'collection' }).toArray();
  for (const { name, options = {} } of all) {
    if (name.startsWith('system.')) continue;
    if (options.expireAfterSeconds !== undefined || options.capped) found.push(name);
    for (const index of await db.collection(name).indexes()) {
      if (index.expireAfterSeconds === undefined) continue;
      const isDeclared = declared.get(name)?.some((wanted) => isSameIndex(index, wanted));
      if (!isDeclared) found.push(`${name} (${index.name})`);
    }
  }
  return found.toSorted();
}

async function inspectCollection(
  db: Db,
  spec: CollectionSpec,
  info: CollectionInfo | { name: string },
): Promise<string[]> {
  const { validator, validationLevel, validationAction } =
    'options' in info ? (info.options ?? {}) : {};
  const validated =
    isDeepStrictEqual(validator, { $jsonSchema: spec.validator }) &&
    validationLevel === 'strict' &&
    validationAction === 'error';
  const indexes = await db.collection(spec.name).indexes();
  const lacking = spec.indexes.filter(
    (wanted) => !indexes.some((index) => isSameIndex(index, wanted)),
  );
  return [
    ...(validated ? [] : ['has another validator']),
    ...lacking.map(({ key }) => `lacks its index on ${Object.keys(key).join(', ')}`),
  ];
}
