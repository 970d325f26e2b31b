import {
  MongoClient,
  ReadConcern,
  type ClientSession,
  type Db,
  type TransactionOptions,
} from 'mongodb';
import { patchMongoDriver } from './mongodb-driver-patch.js';

/** What is waited for a server, a connection or a majority: a database that is away answers 503 and never a hang. */
export const WAIT_LIMIT_MS = 5_000;
/** A server that holds an operation longer than this has lost it: the connection is closed. */
const OPERATION_LIMIT_MS = 10_000;

export const TRANSACTION_OPTIONS = {
  readConcern: { level: 'snapshot' },
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
  maxCommitTimeMS: WAIT_LIMIT_MS,
} as const satisfies TransactionOptions;

/** What holds money is read and written through this client: majority and journaled, primary, longs as bigint. */
export function createMongoClient(
  uri: string,
  appName: string,
  { operationLimitMs = OPERATION_LIMIT_MS }: { operationLimitMs?: number } = {},
): MongoClient {
  patchMongoDriver();
  return new MongoClient(uri, {
    appName,
    useBigInt64: true,
    ignoreUndefined: true,
    retryReads: true,
    retryWrites: true,
    readPreference: 'primary',
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: WAIT_LIMIT_MS },
    serverSelectionTimeoutMS: WAIT_LIMIT_MS,
    connectTimeoutMS: WAIT_LIMIT_MS,
    waitQueueTimeoutMS: WAIT_LIMIT_MS,
    socketTimeoutMS: operationLimitMs,
    maxPoolSize: 50,
    // With useBigInt64, the driver's streaming monitor throws in a timer, where nobody can catch it, as soon as a
    // primary has stepped down: every failover would end the process. Asking at intervals has no such path.
    serverMonitoringMode: 'poll',
  });
}

export type Database = { client: MongoClient; db: Db };

export async function connectDatabase(
  config: { uri: string; database: string },
  appName: string,
  options: { operationLimitMs?: number } = {},
): Promise<Database> {
  const client = createMongoClient(config.uri, appName, options);
  await client.connect();
  return { client, db: client.db(config.database) };
}

/**
 * Reads that all see the database as it stood at the first of them. They have to be made through the `db` given: the
 * driver lets the read concern of a client, here majority, take the place of the session's own.
 */
export async function withSnapshot<T>(
  { client, db }: Database,
  read: (db: Db, session: ClientSession) => Promise<T>,
): Promise<T> {
  const session = client.startSession({ snapshot: true });
  try {
    const readConcern = new ReadConcern('snapshot');
    return await read(client.db(db.databaseName, { readConcern }), session);
  } finally {
    await session.endSession();
  }
}

export type { ClientSession };
