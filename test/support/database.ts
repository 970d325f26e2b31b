import { randomUUID } from 'node:crypto';
import type { Db, MongoClient } from 'mongodb';
import { createMongoClient } from '../../src/platform/database/client.js';
import { migrate, type Migration } from '../../src/platform/database/migrations.js';
import { migrations as allMigrations } from '../../src/composition/migrations.js';

/** A database of one test file. */
export type TestDatabase = {
  client: MongoClient;
  db: Db;
  /** The address, for processes and further clients of a test. */
  uri: string;
  name: string;
  /** Drops the database and closes the client. */
  close(): Promise<void>;
};

/**
 * Creates an empty database with the whole schema on the mongod of the test run, with the client options of production.
 */
export async function openTestDatabase(
  migrations: readonly Migration[] = allMigrations,
): Promise<TestDatabase> {
  const uri = process.env['BURSAR_TEST_MONGODB_URI'];
  if (uri === undefined)
    throw new Error('BURSAR_TEST_MONGODB_URI is not set: run the tests by npm test');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const client = createMongoClient(uri, 'bursar-test');
  const db = client.db(name);
  await migrate(db, migrations);
  return {
    client,
    db,
    uri,
    name,
    async close() {
      await db.dropDatabase();
      await client.close();
    },
  };
}
