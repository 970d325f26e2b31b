import type { Db } from 'mongodb';
import type { Log } from '../../shared/log.js';
import { lackingIndexes } from './indexes.js';
import { hasNewer, uniqueOf, wantedOf, type CollectionSpec, type Migration } from './migrations.js';

/** No record is created by a check that is older. */
const GOOD_FOR_MS = 2_000;
/** While records are created, the next check begins after this time, so that no commit waits for it. */
const REFRESH_AFTER_MS = 1_000;
/** Readiness is about all collections, also those in which nothing is created. */
const READY_FOR_MS = 10_000;

/** Tells which collections lack a unique index. */
export type UniqueIndexes = ReturnType<typeof watchUniqueIndexes>;

/** The last check of a collection. `lacking`: the fields of a missing index. */
type Checked = {
  spec: CollectionSpec;
  lacking: string | null;
  at: number;
  checking: Promise<void> | null;
};

/**
 * Checks that unique indexes exist, in collections in which records are created: duplicates are detected by them alone, and
 * a restore may have left them out. An index that is being built counts as missing. A process that creates nothing asks the
 * database only for its readiness. The result of the last check stays while the database is away.
 */
export function watchUniqueIndexes({
  db,
  migrations,
  log,
  now = () => performance.now(),
}: {
  db: Db;
  migrations: readonly Migration[];
  log: Log;
  now?: () => number;
}) {
  const checked = new Map<string, Checked>();
  for (const [spec] of wantedOf(migrations)) {
    if (uniqueOf(spec).length === 0) continue;
    checked.set(spec.name, { spec, lacking: null, at: -Infinity, checking: null });
  }

  async function check(of: Checked): Promise<void> {
    const { name } = of.spec;
    const began = now();
    try {
      const index = await findMissing(db, migrations, of.spec);
      if (index && !of.lacking) log.error({ collection: name, index }, 'a unique index is missing');
      if (!index && of.lacking) log.info({ collection: name }, 'the unique indexes exist again');
      of.lacking = index;
    } catch (error) {
      log.warn({ err: error }, 'could not check the unique indexes');
    }
    of.at = began;
    of.checking = null;
  }

  /** Begins a check of what is older than this. Resolves when it has ended. */
  function refresh(of: Checked, olderThanMs: number): Promise<void> | null {
    if (now() - of.at >= olderThanMs) of.checking ??= check(of);
    return of.checking;
  }

  return {
    /** True if this collection lacks one of its unique indexes, by a check of the last two seconds. */
    lacks: (collection: string): boolean | Promise<boolean> => {
      const of = checked.get(collection);
      if (!of) return false;
      const refreshed = refresh(of, REFRESH_AFTER_MS);
      const isGood = now() - of.at < GOOD_FOR_MS;
      return isGood || !refreshed ? of.lacking !== null : refreshed.then(() => of.lacking !== null);
    },
    /** Throws an error that names the missing indexes, if there are any. */
    async assertPresent(): Promise<void> {
      const all = [...checked.values()];
      await Promise.all(
        all.map(async (of) => refresh(of, of.lacking === null ? READY_FOR_MS : REFRESH_AFTER_MS)),
      );
      const names = all.flatMap(({ spec, lacking }) =>
        lacking ? [`${spec.name} on ${lacking}`] : [],
      );
      if (names.length > 0) throw new Error(`unique indexes are missing: ${names.join('; ')}`);
    },
    /** Resolves when the checks that have begun have ended. */
    close: async () =>
      void (await Promise.all([...checked.values()].map(async (of) => of.checking))),
  };
}

/** The fields of a unique index that a collection lacks. None in the database of a newer version, which may want others. */
async function findMissing(
  db: Db,
  migrations: readonly Migration[],
  spec: CollectionSpec,
): Promise<string | null> {
  const [lacking] = await lackingIndexes(db, spec.name, uniqueOf(spec));
  if (!lacking || (await hasNewer(db, migrations))) return null;
  return Object.keys(lacking.key).join(', ');
}
