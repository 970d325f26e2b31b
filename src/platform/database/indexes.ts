import { isDeepStrictEqual } from 'node:util';
import type { Db, IndexDescription, IndexDescriptionInfo } from 'mongodb';

const dated = (field: string) => ({
  key: { [field]: 1 as const },
  partialFilterExpression: { [field]: { $type: 'date' } },
});

/** Partial index on `next_check_at`: records whose workflow must be checked; see core/supervision. */
export const nextCheckIndex = dated('next_check_at');
/** Partial index on `stalled.since`: records whose workflow was started without an effect; see core/supervision. */
const stalledIndex = dated('stalled.since');
/** Partial index on `attention.since`: records that wait for an operator. */
export const attentionIndex = dated('attention.since');

/** The indexes of every collection whose workflows are supervised. */
export const supervisionIndexes = [nextCheckIndex, attentionIndex, stalledIndex];

/** The condition of a text in a partial index, which MongoDB uses only if the query names the type that the index does. */
export const textEquals = (text: string) => ({ $eq: text, $type: 'string' as const });

/** True if an index has the keys and options that are wanted. */
export function isSameIndex(found: IndexDescriptionInfo, wanted: IndexDescription): boolean {
  const { unique = false, expireAfterSeconds, partialFilterExpression } = wanted;
  return (
    keysOf(found) === keysOf(wanted) &&
    (found.unique ?? false) === unique &&
    found.expireAfterSeconds === expireAfterSeconds &&
    isDeepStrictEqual(found.partialFilterExpression, partialFilterExpression)
  );
}

/** The keys of an index in their order, which distinguishes indexes. */
const keysOf = ({ key }: { key: object }): string =>
  Object.entries(key)
    .map(([field, direction]) => `${field}:${direction}`)
    .join();

const NAMESPACE_NOT_FOUND = 26;

/** The wanted indexes that a collection does not have, or whose build has not ended. */
export async function lackingIndexes(
  db: Db,
  collection: string,
  wanted: readonly IndexDescription[],
): Promise<IndexDescription[]> {
  if (wanted.length === 0) return [];
  const present = await finishedIndexes(db, collection);
  return wanted.filter((index) => !present.some((found) => isSameIndex(found, index)));
}

/** The indexes of a collection whose build has ended. Those in progress have another form: `{ spec, buildUUID }`. */
async function finishedIndexes(db: Db, name: string): Promise<IndexDescriptionInfo[]> {
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
