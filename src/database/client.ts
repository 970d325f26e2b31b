import { MongoClient, type ClientSession, type Db, type TransactionOptions } from 'mongodb';

/** Every server operation ends within this, so that a sick database answers 503 and never a hang. */
export const OPERATION_TIME_LIMIT_MS = 5_000;

export const TRANSACTION_OPTIONS = {
  readConcern: { level: 'snapshot' },
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
  maxCommitTimeMS: OPERATION_TIME_LIMIT_MS,
} as const satisfies TransactionOptions;

/** What holds money is read and written through this client: majority and journaled, primary, longs as bigint. */
export function createMongoClient(uri: string, appName: string): MongoClient {
  return new MongoClient(uri, {
    appName,
    useBigInt64: true,
    ignoreUndefined: true,
    retryReads: true,
    retryWrites: true,
    readPreference: 'primary',
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: OPERATION_TIME_LIMIT_MS },
    serverSelectionTimeoutMS: OPERATION_TIME_LIMIT_MS,
    connectTimeoutMS: OPERATION_TIME_LIMIT_MS,
    waitQueueTimeoutMS: OPERATION_TIME_LIMIT_MS,
    maxPoolSize: 50,
  });
}

export type Database = { client: MongoClient; db: Db };

export async function connectDatabase(
  config: { uri: string; database: string },
  appName: string,
): Promise<Database> {
  const client = createMongoClient(config.uri, appName);
  await client.connect();
  return { client, db: client.db(config.database) };
}

export type { ClientSession };
