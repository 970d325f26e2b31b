import { MongoServerError, type Db, type Document, type MongoClient } from 'mongodb';
import { isMongos } from './client.js';

/** The users of a deployment: schema changes; API and worker; operator API and operators' commands; reports. */
export const DATABASE_USERS = ['migrate', 'service', 'operator', 'read_only'] as const;

/** One of the users of a deployment. */
export type DatabaseUser = (typeof DATABASE_USERS)[number];

/** A user, or the second one with the same role: while passwords are exchanged, processes sign in as either. */
export type DatabaseAccount = DatabaseUser | `${DatabaseUser}_2`;

/** Both users of each role. */
export const DATABASE_ACCOUNTS: readonly DatabaseAccount[] = DATABASE_USERS.flatMap(
  (user): DatabaseAccount[] => [user, `${user}_2`],
);

/** An act on the documents or the schema of a collection, in MongoDB's word. */
type Action =
  | 'find'
  | 'insert'
  | 'update'
  | 'remove'
  | 'createCollection'
  | 'createIndex'
  | 'collMod'
  | 'listCollections'
  | 'listIndexes';

/** The rights of a user: by collection, and on all collections of the database. */
export type Rights = {
  collections: Readonly<Record<string, readonly Action[]>>;
  database: readonly Action[];
};

/** The name of a user in the database `admin`. That of the first user is also that of the role. */
export const databaseUserName = (database: string, account: DatabaseAccount): string =>
  `${database}_${account}`;

const ROLE_EXISTS = 51_002;
const USER_EXISTS = 51_003;
const NO_SUCH_USER = 11;

/**
 * Creates the roles of a database, or brings them up to date, and gives each user with a password its role. A user without
 * one is left alone. It needs an administrator of MongoDB, and may be repeated.
 */
export async function ensureDatabaseUsers(
  client: MongoClient,
  {
    database,
    rights,
    passwords,
  }: {
    database: string;
    rights: Readonly<Record<DatabaseUser, Rights>>;
    passwords: Readonly<Partial<Record<DatabaseAccount, string>>>;
  },
): Promise<DatabaseAccount[]> {
  const admin = client.db('admin');
  const made: DatabaseAccount[] = [];
  for (const user of DATABASE_USERS) {
    const role = databaseUserName(database, user);
    await ensure(admin, ['createRole', 'updateRole', ROLE_EXISTS], role, {
      privileges: privilegesOf(database, rights[user]),
      roles: [],
    });
    for (const account of [user, `${user}_2`] as const) {
      const password = passwords[account];
      if (password === undefined) continue;
      await ensure(
        admin,
        ['createUser', 'updateUser', USER_EXISTS],
        databaseUserName(database, account),
        { pwd: password, roles: [{ role, db: 'admin' }] },
      );
      made.push(account);
    }
  }
  return made;
}

/** The connections of a user, by the name of their process. `isMongos`: they are those of one mongos, which sees no others. */
export type Connections = {
  isMongos: boolean;
  found: { app: string; connections: number }[];
};

/**
 * The connections to the primary that are signed in as this user, or those to the mongos. Without `localOps` a mongos answers
 * for the shards, where its clients do not appear.
 */
export async function connectionsOf(client: MongoClient, user: string): Promise<Connections> {
  const routed = isMongos(await client.db('admin').command({ hello: 1 }));
  const operations = client.db('admin').aggregate<{ _id: string | null; connections: number }>(
    [
      {
        $currentOp: { allUsers: true, idleConnections: true, ...(routed && { localOps: true }) },
      },
      { $match: { effectiveUsers: { $elemMatch: { user, db: 'admin' } } } },
      { $group: { _id: '$appName', connections: { $sum: 1 } } },
      { $sort: { _id: 1 } },
    ],
    { readConcern: { level: 'local' } },
  );
  const found = (await operations.toArray()).map(({ _id, connections }) => ({
    app: _id ?? 'unnamed',
    connections,
  }));
  return { isMongos: routed, found };
}

/** Removes a user. False if there is none. */
export async function removeDatabaseUser(client: MongoClient, name: string): Promise<boolean> {
  try {
    await client.db('admin').command({ dropUser: name });
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NO_SUCH_USER) return false;
    throw error;
  }
}

async function ensure(
  admin: Db,
  [create, update, exists]: [string, string, number],
  name: string,
  content: Document,
): Promise<void> {
  try {
    await admin.command({ [create]: name, ...content });
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === exists)) throw error;
    await admin.command({ [update]: name, ...content });
  }
}

/** `bursar doctor` reads a parameter of the server, and the shard keys of a cluster. */
const DIAGNOSIS = [
  { resource: { cluster: true }, actions: ['getParameter'] },
  { resource: { db: 'config', collection: 'collections' }, actions: ['find'] },
];

const privilegesOf = (db: string, { collections, database }: Rights): Document[] => [
  ...Object.entries(collections).map(([collection, actions]) => ({
    resource: { db, collection },
    actions: [...actions],
  })),
  { resource: { db, collection: '' }, actions: [...database] },
  ...DIAGNOSIS,
];
