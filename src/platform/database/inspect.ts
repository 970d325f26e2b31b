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
