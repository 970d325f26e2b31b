import {
  MongoClient,
  MongoError,
  ReadConcern,
  type ClientSession,
  type Db,
  type Document,
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
export type Database = {
  client: MongoClient;
  db: Db;
  /** True if the server is a mongos: documents of two tenants may be on two shards. */
  isMongos?: boolean;
  /** Wraps a view of the database as `db` is wrapped. */
  wrap?: (db: Db) => Db;
};

/** True if the server that gave this answer to `hello` is a mongos, the router of a sharded cluster. */
export const isMongos = ({ msg }: Document): boolean => msg === 'isdbgrid';

/**
 * Connects to MongoDB with the settings of `createMongoClient`. Rejects if no server answers within `WAIT_LIMIT_MS`.
 */
export async function connectDatabase(
  config: { uri: string; database: string },
  appName: string,
  options: { operationLimitMs?: number; wrap?: (db: Db) => Db } = {},
): Promise<Database> {
  const client = createMongoClient(config.uri, appName, options);
  await client.connect();
  const hello = await client.db('admin').command({ hello: 1 });
  const { wrap = (db) => db } = options;
  return { client, db: wrap(client.db(config.database)), isMongos: isMongos(hello), wrap };
}

/** MongoDB no longer has the moment of a snapshot. */
const SNAPSHOT_TOO_OLD = 239;
const MAX_SNAPSHOTS = 3;

/**
 * Runs reads that all see the database at one moment, that of the first read. If MongoDB gives up this moment meanwhile, they
 * are repeated at a new one, so `read` must be repeatable. Use the `db` that is passed in: the
 * driver prefers a client's read concern, here majority, over the session's own.
 */
export async function withSnapshot<T>(
  { client, db, wrap = (view) => view }: Database,
  read: (db: Db, session: ClientSession) => Promise<T>,
): Promise<T> {
  const readConcern = new ReadConcern('snapshot');
  for (let attempt = 1; ; attempt += 1) {
    const session = client.startSession({ snapshot: true });
    try {
      return await read(wrap(client.db(db.databaseName, { readConcern })), session);
    } catch (error) {
      const isTooOld = error instanceof MongoError && error.code === SNAPSHOT_TOO_OLD;
      if (!isTooOld || attempt === MAX_SNAPSHOTS) throw error;
    } finally {
      await session.endSession();
    }
  }
}

export type { ClientSession };
