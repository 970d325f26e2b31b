import { createHmac } from 'node:crypto';
import type { Db } from 'mongodb';
import { isDuplicate } from './duplicate.js';

type Environment = 'sandbox' | 'live';
type Mark = { _id: 'environment'; environment: Environment };

/**
 * Claims a database for an environment: the first one to open it owns it. Throws for the other one before anything is
 * read or written, because a database name copied between deployments must not mix their money.
 */
export async function claimDatabase(db: Db, environment: Environment): Promise<void> {
  const owner = await mark(db, environment).catch((error: unknown) => {
    // Two processes opened the database for the first time at once: the mark exists now.
    if (!isDuplicate(error)) throw error;
    return mark(db, environment);
  });
  if (owner !== environment) {
    throw new Error(
      `The database ${db.databaseName} belongs to the ${owner} environment, and this is ${environment}: ` +
        'give it a BURSAR_DATABASE of its own.',
    );
  }
}

async function mark(db: Db, environment: Environment): Promise<Environment | undefined> {
  const found = await db
    .collection<Mark>('environment')
    .findOneAndUpdate(
      { _id: 'environment' },
      { $setOnInsert: { environment } },
      { upsert: true, returnDocument: 'after' },
    );
  return found?.environment;
}

type PepperMark = { _id: 'key_pepper'; check: string };

const pepperMarks = (db: Db) => db.collection<PepperMark>('environment');

const checkOf = (pepper: string) =>
  createHmac('sha256', pepper).update('mark of the key pepper').digest('base64url');

/** Keeps a keyed hash of the pepper of the first process that opens the database, for `isMarkedPepper`. */
export async function markPepper(db: Db, pepper: string): Promise<void> {
  const first = { $setOnInsert: { check: checkOf(pepper) } };
  await pepperMarks(db)
    .updateOne({ _id: 'key_pepper' }, first, { upsert: true })
    .catch((error: unknown) => {
      // Two processes opened the database for the first time at once: the mark exists now.
      if (!isDuplicate(error)) throw error;
    });
}

/** Tells whether the first process that opened the database had this pepper; null if none has. */
export async function isMarkedPepper(db: Db, pepper: string): Promise<boolean | null> {
  const found = await pepperMarks(db).findOne({ _id: 'key_pepper' });
  return found && found.check === checkOf(pepper);
}
