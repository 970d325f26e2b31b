import { MongoServerError, type Db, type Document, type MongoClient } from 'mongodb';

/** The users of a deployment: schema changes; API and worker; operator API and operators' commands; reports. */
export const DATABASE_USERS = ['migrate', 'service', 'operator', 'read_only'] as const;

/** One of the users of a deployment. */
export type DatabaseUser = (typeof DATABASE_USERS)[number];

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

/** The name of a user in the database `admin`, which is also that of its role. */
export const databaseUserName = (database: string, user: DatabaseUser): string =>
  `${database}_${user}`;

const ROLE_EXISTS = 51_002;
const USER_EXISTS = 51_003;

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
    passwords: Readonly<Partial<Record<DatabaseUser, string>>>;
  },
): Promise<DatabaseUser[]> {
  const admin = client.db('admin');
  const made: DatabaseUser[] = [];
  for (const user of DATABASE_USERS) {
    const name = databaseUserName(database, user);
    await ensure(admin, ['createRole', 'updateRole', ROLE_EXISTS], name, {
      privileges: privilegesOf(database, rights[user]),
      roles: [],
    });
    const password = passwords[user];
    if (password === undefined) continue;
    await ensure(admin, ['createUser', 'updateUser', USER_EXISTS], name, {
      pwd: password,
      roles: [{ role: name, db: 'admin' }],
    });
    made.push(user);
  }
  return made;
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
