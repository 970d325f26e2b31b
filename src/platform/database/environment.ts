import type { Db } from 'mongodb';
import { StartRefused } from '../../shared/start-refused.js';
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
    throw new StartRefused(
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
