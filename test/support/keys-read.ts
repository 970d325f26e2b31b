import type { TestDatabase } from './database.js';

type Profiled = { ns: string; keysExamined?: number | bigint; docsExamined?: number | bigint };

/** Runs a function, and returns with its result how many keys and documents of a collection its commands have examined. */
export async function keysReadBy<T>(
  { db, name }: Pick<TestDatabase, 'db' | 'name'>,
  collection: string,
  run: () => Promise<T>,
): Promise<{ result: T; keys: number }> {
  await db.command({ profile: 2 });
  try {
    const result = await run();
    const profile = db.collection<Profiled>('system.profile');
    const found = await profile.find({ ns: `${name}.${collection}` }).toArray();
    const examined = found.map((each) =>
      Math.max(Number(each.keysExamined ?? 0), Number(each.docsExamined ?? 0)),
    );
    if (examined.length === 0) throw new Error(`no command has read ${collection}`);
    return { result, keys: examined.reduce((sum, one) => sum + one, 0) };
  } finally {
    await db.command({ profile: 0 });
    await db.dropCollection('system.profile');
  }
}
