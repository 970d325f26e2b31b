import { randomUUID } from 'node:crypto';
import type { Db, MongoClient } from 'mongodb';
import { createMongoClient } from '../../src/platform/database/client.js';
import { migrate, type Migration } from '../../src/platform/database/migrations.js';
import { migrations as allMigrations } from '../../src/composition/migrations.js';

export type TestDatabase = {
  client: MongoClient;
  db: Db;
  /** For processes and further clients that a test starts. */
  uri: string;
  name: string;
  /** Drops the database and closes the client. */
  close(): Promise<void>;
};

/** A fresh database on the mongod that the test run started, with the options of production and the whole schema. */
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
