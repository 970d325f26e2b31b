import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { MongoServerError, type Db, type Document, type IndexDescription } from 'mongodb';
import { StartRefused } from '../../shared/start-refused.js';
import { isDuplicate } from './duplicate.js';
import { lackingIndexes } from './indexes.js';
import type { SealedField } from './sealed-field.js';

/** The state that a collection must have. The validator is the content of `$jsonSchema`, enforced for every write. */
export type CollectionSpec = {
  name: string;
  validator: Document;
  indexes: IndexDescription[];
  /** Fields that the database must not have in clear; see `sealedDatabase`. */
  sealed?: readonly SealedField[];
  /**
   * The field by which the collection may be sharded: `tenant_id`, or an `_id` that is the tenant or begins with it. Its
   * unique indexes begin with this field. Null or left out: the collection stays on one shard.
   */
  shardBy?: 'tenant_id' | '_id' | null;
};

/**
 * One step of the schema. `up` must be repeatable: a process may die after the work and before the step is recorded.
 */
export type Migration = {
  id: string;
  up(db: Db): Promise<void>;
  /** The collections that this step brings to their current state. */
  collections?: readonly CollectionSpec[];
};

/** Lease of the lock: other processes wait this long for one that died during a migration. */
const LOCK_MS = 15_000;
const RENEW_MS = 3_000;
const RETRY_MS = 100;
/** Building an index on a large collection takes minutes. After this time the start fails with an error. */
const GIVE_UP_MS = 10 * 60_000;

const LOCK_ID = 'lock';
const NAMESPACE_EXISTS = 48;
const UNAUTHORIZED = 13;

type MigrationRecord = { _id: string; applied_at: Date };
type Lock = { _id: string; owner: string; expires_at: Date };

/**
 * Brings the database up to date. Every migration runs once, in the given order, even if several processes start at the
 * same time. Resolves in each of them only when the whole list is recorded. Unknown records are left alone, so that an
 * older version can start beside a newer one.
 */
export async function migrate(db: Db, migrations: readonly Migration[]): Promise<void> {
  refuseEarlierLayout(db, migrations, await applied(db));
  if ((await missing(db, migrations)).length > 0) await applyMissing(db, migrations);
  await ensureUnique(db, migrations);
}

/** Does the work of a start that changes the schema and its marks. Says what to do if the user may not do that. */
export async function asMigrator(db: Db, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === UNAUTHORIZED)) throw error;
    throw new StartRefused(
      `The database ${db.databaseName} has to be migrated, and this user may not do that: ` +
        'run bursar migrate as the user that may, then start again.',
      { cause: error },
    );
  }
}

/**
 * Throws if the database was made before the migrations were squashed into the present ones. Its documents have other
 * fields, so no migration leads from it to here. Such a database has an unknown record under a number that is ours.
 */
function refuseEarlierLayout(
  db: Db,
  migrations: readonly Migration[],
  recorded: readonly string[],
): void {
  const known = new Set(migrations.map(({ id }) => id));
  const newest = Math.max(...migrations.map(({ id }) => numberOf(id)));
  const replaced = recorded.find((id) => !known.has(id) && numberOf(id) <= newest);
  if (replaced === undefined) return;
  throw new StartRefused(
    `The database ${db.databaseName} has an earlier layout (${replaced}), which this version cannot read. ` +
      'If npm start made it, stop it, delete .bursar and start again; otherwise use an empty database.',
  );
}

/** The number that a migration's id begins with; NaN without one, which compares as false. */
const numberOf = (id: string) => Number.parseInt(id, 10);

async function applyMissing(db: Db, migrations: readonly Migration[]): Promise<void> {
  const lock = await acquireLock(db);
  try {
    for (const migration of await missing(db, migrations)) {
      await migration.up(db);
      lock.assertHeld();
      await records(db).insertOne({ _id: migration.id, applied_at: new Date() });
    }
  } finally {
    await lock.release();
  }
}

/**
 * Creates unique indexes that are missing, after a restore for example, before any request is accepted: duplicates are
 * detected by these indexes alone. A database of a newer version is not changed, because that version may want other
 * indexes.
 */
async function ensureUnique(db: Db, migrations: readonly Migration[]): Promise<void> {
  if (await hasNewer(db, migrations)) return;
  // In parallel: every start waits for this, although normally no index is missing.
  await Promise.all(
    wantedOf(migrations).map(async ([spec]) => {
      // The user of an API or a worker may list indexes, and not create them.
      const lacking = await lackingIndexes(db, spec.name, uniqueOf(spec));
      if (lacking.length > 0) await db.collection(spec.name).createIndexes(lacking);
    }),
  );
}

/** The unique indexes of a collection. */
export const uniqueOf = ({ indexes }: CollectionSpec): IndexDescription[] =>
  indexes.filter((index) => index.unique);

/** True if a newer version has migrated the database: it has migrations that are unknown here. */
export async function hasNewer(db: Db, migrations: readonly Migration[]): Promise<boolean> {
  const known = new Set(migrations.map(({ id }) => id));
  return (await applied(db)).some((id) => !known.has(id));
}

/** Each collection once, with the id of the last migration that changes it. */
export function wantedOf(migrations: readonly Migration[]): [CollectionSpec, string][] {
  const wanted = new Map<string, [CollectionSpec, string]>();
  for (const { id, collections = [] } of migrations) {
    for (const spec of collections) wanted.set(spec.name, [spec, id]);
  }
  return [...wanted.values()];
}

/** A migration that creates these collections with their validators and indexes, or updates existing ones. */
export function collectionsMigration(id: string, specs: readonly CollectionSpec[]): Migration {
  return {
    id,
    up: (db) => ensureCollections(db, specs),
    collections: specs,
  };
}

/** Creates these collections with their validators and indexes, or updates existing ones. */
async function ensureCollections(db: Db, specs: readonly CollectionSpec[]): Promise<void> {
  for (const spec of specs) await ensureCollection(db, spec);
}

async function ensureCollection(db: Db, spec: CollectionSpec): Promise<void> {
  const validation = {
    validator: { $jsonSchema: spec.validator },
    validationLevel: 'strict',
    validationAction: 'error',
  };
  try {
    await db.createCollection(spec.name, validation);
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
    await db.command({ collMod: spec.name, ...validation });
  }
  if (spec.indexes.length > 0) await db.collection(spec.name).createIndexes(spec.indexes);
}

/** The migrations that are not recorded as applied, in their order. */
export async function missing(db: Db, migrations: readonly Migration[]): Promise<Migration[]> {
  const recorded = new Set(await applied(db));
  return migrations.filter(({ id }) => !recorded.has(id));
}

const applied = (db: Db) => records(db).distinct('_id');

/**
 * Acquires the lock, which is one document. Its lease uses the server's time, so no clocks of two machines are
 * compared. The lease is renewed while the lock is held: a long index build keeps it, and a dead process loses it.
 */
async function acquireLock(db: Db) {
  const owner = randomUUID();
  await ensureLockDocument(db);
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await tryLock(db, owner))) {
    if (performance.now() > giveUpAt) throw new Error('another process holds the migration lock');
    await sleep(RETRY_MS);
  }
  let lost: unknown = null;
  const renewal = setInterval(() => {
    renew(db, owner).catch((error: unknown) => (lost = error));
  }, RENEW_MS);
  return {
    assertHeld() {
      if (lost !== null) throw new Error('the migration lock was lost', { cause: lost });
    },
    async release() {
      clearInterval(renewal);
      await locks(db).updateOne({ _id: LOCK_ID, owner }, { $set: { expires_at: new Date(0) } });
    },
  };
}

const LEASE = { $add: ['$$NOW', LOCK_MS] };

async function ensureLockDocument(db: Db): Promise<void> {
  const free = { owner: '', expires_at: new Date(0) };
  try {
    await locks(db).updateOne({ _id: LOCK_ID }, { $setOnInsert: free }, { upsert: true });
  } catch (error) {
    // Two processes inserted at once: the document exists, as it should.
    if (!isDuplicate(error)) throw error;
  }
}

async function tryLock(db: Db, owner: string): Promise<boolean> {
  const { modifiedCount } = await locks(db).updateOne(
    { _id: LOCK_ID, $expr: { $lt: ['$expires_at', '$$NOW'] } },
    [{ $set: { owner, expires_at: LEASE } }],
  );
  return modifiedCount === 1;
}

async function renew(db: Db, owner: string): Promise<void> {
  const { matchedCount } = await locks(db).updateOne({ _id: LOCK_ID, owner }, [
    { $set: { expires_at: LEASE } },
  ]);
  if (matchedCount === 0) throw new Error('another process took the migration lock');
}

const records = (db: Db) => db.collection<MigrationRecord>('migrations');
const locks = (db: Db) => db.collection<Lock>('migration_lock');
