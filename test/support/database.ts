import type { Db, MongoClient } from 'mongodb';
import { createMongoClient } from '../../src/platform/database/client.js';
import { migrate, type Migration } from '../../src/platform/database/migrations.js';
import { leaveDatabase, newDatabaseName, takeDatabase } from './databases.js';

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
 * Opens an empty database on the mongod of the test run, with the client options of production. It has the whole schema, or
 * that of the given migrations.
 */
export async function openTestDatabase(migrations?: readonly Migration[]): Promise<TestDatabase> {
  const uri = process.env['BURSAR_TEST_MONGODB_URI'];
  if (uri === undefined)
    throw new Error('BURSAR_TEST_MONGODB_URI is not set: run the tests by npm test');
  const client = createMongoClient(uri, 'bursar-test');
  const name = migrations ? newDatabaseName() : await takeDatabase(client);
  const db = client.db(name);
  if (migrations) await migrate(db, migrations);
  return {
    client,
    db,
    uri,
    name,
    async close() {
      await leaveDatabase(client, name);
      await client.close();
    },
  };
}
