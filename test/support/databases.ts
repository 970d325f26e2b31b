import { randomUUID } from 'node:crypto';
import type { Db, Document, MongoClient } from 'mongodb';
import { migrate } from '../../src/platform/database/migrations.js';
import { mapWithConcurrency } from '../../src/shared/concurrency.js';

/** A database that a test file has left, with the schema that it had when it was new. */
type Left = { _id: string; schema: string };

/** Emptying more documents than this takes longer than making a database. */
const MAX_DOCUMENTS = 20_000;
/** Collections of a database that are read or emptied at once: more would wait for connections longer than a client does. */
const AT_ONCE = 5;
/** They say that the schema is there, so they stay. */
const RECORDS_OF_MIGRATIONS = new Set(['migrations', 'migration_lock']);
/** The collection of the mark that a database belongs to an environment: no migration makes it. */
const MARK = 'environment';

const leftIn = (client: MongoClient) => client.db('test_databases').collection<Left>('left');

/** The schemas of the databases that this test file uses, by name. */
const taken = new Map<string, string>();

/** Returns the name of a new database. */
export const newDatabaseName = () => `test_${randomUUID().replaceAll('-', '')}`;

/**
 * Returns the name of an empty database with the whole schema on the shared mongod. Making one takes a second, so this is
 * one that an earlier test file has left, emptied, if there is any.
 */
export async function takeDatabase(client: MongoClient): Promise<string> {
  for (;;) {
    const left = await leftIn(client).findOneAndDelete({});
    const name = left?._id ?? newDatabaseName();
    const db = client.db(name);
    if (!left) await migrate(db, await allMigrations());
    else if (!(await empty(db, left.schema))) {
      await db.dropDatabase();
      continue;
    }
    taken.set(name, left?.schema ?? (await schemaOf(db)));
    return name;
  }
}

/** They import every capability, which takes seconds, and most files find a database that has them. */
const allMigrations = async () => (await import('../../src/composition/migrations.js')).migrations;

/** Leaves a database to a later test file. One that was not taken here is dropped. */
export async function leaveDatabase(client: MongoClient, name: string): Promise<void> {
  const schema = taken.get(name);
  if (schema === undefined) await client.db(name).dropDatabase();
  else await leftIn(client).insertOne({ _id: name, schema });
  taken.delete(name);
}

/** Removes every document. Returns false if a test has changed the schema, or if there is too much to remove. */
async function empty(db: Db, schema: string): Promise<boolean> {
  await db.dropCollection(MARK);
  if ((await schemaOf(db)) !== schema) return false;
  const collections = (await db.collections()).filter(
    ({ collectionName }) => !RECORDS_OF_MIGRATIONS.has(collectionName),
  );
  const counts = await mapWithConcurrency(AT_ONCE, collections, (each) =>
    each.estimatedDocumentCount(),
  );
  if (counts.reduce((sum, count) => sum + count, 0) > MAX_DOCUMENTS) return false;
  await mapWithConcurrency(AT_ONCE, collections, (each) => each.deleteMany({}));
  const found = await mapWithConcurrency(AT_ONCE, collections, (each) => each.findOne({}));
  return found.every((document) => document === null);
}

/** The collections with their options and indexes, as one comparable text. */
async function schemaOf(db: Db): Promise<string> {
  const collections = (await db.listCollections().toArray()).filter(({ name }) => name !== MARK);
  const described = await mapWithConcurrency(AT_ONCE, collections, async (info) => ({
    name: info.name,
    options: (info as Document)['options'] as Document,
    indexes: await db.collection(info.name).listIndexes().toArray(),
  }));
  const all = described.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return JSON.stringify(all, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
