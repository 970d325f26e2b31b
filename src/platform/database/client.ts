import {
  MongoClient,
  ReadConcern,
  type ClientSession,
  type Db,
  type TransactionOptions,
} from 'mongodb';
import { patchMongoDriver } from './mongodb-driver-patch.js';

/**
 * Bound on the wait for a server, a connection or a majority: when the database is away, requests get 503 and never
 * hang.
 */
export const WAIT_LIMIT_MS = 5_000;
/** An operation that a server holds longer than this is lost: its connection is closed. */
const OPERATION_LIMIT_MS = 10_000;

/** Options of every transaction: snapshot reads, journaled majority writes, a bounded commit. */
export const TRANSACTION_OPTIONS = {
  readConcern: { level: 'snapshot' },
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
  maxCommitTimeMS: WAIT_LIMIT_MS,
} as const satisfies TransactionOptions;

/**
 * Creates the client for everything that concerns money: journaled majority writes, majority reads from the primary,
 * longs as bigint.
 */
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
    // With useBigInt64, the driver's streaming monitor throws in a timer, where no handler can catch it, as soon as a
    // primary steps down: every failover would end the process. Polling does not have that path.
    serverMonitoringMode: 'poll',
  });
}

/** A connected client with the database of this deployment. */
export type Database = { client: MongoClient; db: Db };

/**
 * Connects to MongoDB with the settings of `createMongoClient`. Rejects if no server answers within `WAIT_LIMIT_MS`.
 */
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
 * Runs reads that all see the database at one moment, that of the first read. Use the `db` that is passed in: the
 * driver prefers a client's read concern, here majority, over the session's own.
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
