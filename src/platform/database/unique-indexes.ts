import type { Db, IndexDescriptionInfo } from 'mongodb';
import type { Log } from '../../shared/log.js';
import { isSameIndex } from './inspect.js';
import { hasNewer, wantedOf, type CollectionSpec, type Migration } from './migrations.js';

const CHECK_EVERY_MS = 2_000;
const NAMESPACE_NOT_FOUND = 26;

/** Tells which collections lack a unique index. */
export type UniqueIndexes = ReturnType<typeof watchUniqueIndexes>;

/**
 * Checks every `everyMs` that the unique indexes exist: duplicates are detected by them alone, and a restore may have left
 * them out. An index that is being built counts as missing. The result of the last check stays while the database is away.
 */
export function watchUniqueIndexes({
  db,
  migrations,
  log,
  everyMs = CHECK_EVERY_MS,
}: {
  db: Db;
  migrations: readonly Migration[];
  log: Log;
  everyMs?: number;
}) {
  let lacking = new Map<string, string>();
  let checking: Promise<void> | null = null;

  async function check(): Promise<void> {
    try {
      const found = await findMissing(db, migrations);
      for (const [name, index] of found) {
        if (!lacking.has(name)) log.error({ collection: name, index }, 'a unique index is missing');
      }
      if (found.size === 0 && lacking.size > 0) log.info('the unique indexes exist again');
      lacking = found;
    } catch (error) {
      log.warn({ err: error }, 'could not check the unique indexes');
    }
    checking = null;
  }

  const timer = setInterval(() => void (checking ??= check()), everyMs).unref();
  return {
    /** True if this collection lacked one of its unique indexes at the last check. */
    lacks: (collection: string): boolean => lacking.has(collection),
    /** Throws an error that names the missing indexes, if there are any. */
    assertPresent(): void {
      const names = [...lacking].map(([name, index]) => `${name} on ${index}`);
      if (names.length > 0) throw new Error(`unique indexes are missing: ${names.join('; ')}`);
    },
    /** Ends the checks. Resolves when the last one has ended. */
    async close(): Promise<void> {
      clearInterval(timer);
      await checking;
    },
  };
}

/** The collections that lack a unique index, with its fields. None in the database of a newer version, which may want others. */
async function findMissing(db: Db, migrations: readonly Migration[]): Promise<Map<string, string>> {
  const missing = new Map<string, string>();
  for (const [spec] of wantedOf(migrations)) {
    const unique = spec.indexes.filter((index) => index.unique);
    if (unique.length === 0) continue;
    const present = await finishedIndexes(db, spec);
    const lacking = unique.find((wanted) => !present.some((index) => isSameIndex(index, wanted)));
    if (lacking) missing.set(spec.name, Object.keys(lacking.key).join(', '));
  }
  return missing.size > 0 && (await hasNewer(db, migrations)) ? new Map() : missing;
}

/** The indexes of a collection whose build has ended. Those in progress have another form: `{ spec, buildUUID }`. */
async function finishedIndexes(db: Db, { name }: CollectionSpec): Promise<IndexDescriptionInfo[]> {
  try {
    const options = { listIndexes: name, includeBuildUUIDs: true, cursor: { batchSize: 1_000 } };
    const answer = await db.command(options);
    const found = answer['cursor'].firstBatch as (IndexDescriptionInfo | { buildUUID: unknown })[];
    return found.filter((index): index is IndexDescriptionInfo => !('buildUUID' in index));
  } catch (error) {
    if ((error as { code?: unknown }).code === NAMESPACE_NOT_FOUND) return [];
    throw error;
  }
}
