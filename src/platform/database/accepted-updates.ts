import { MongoError, type Collection, type Document, type Filter } from 'mongodb';
import { acrossTenants } from './tenant-filters.js';

const REFUSED_BY_VALIDATOR = 121;

/** The number of documents that were updated, and the ids of those that the validator of their collection refuses. */
type AcceptedUpdates = { updated: number; refused: string[] };

/**
 * Updates a page of documents that a loop has found, over all tenants. The server ends an update of many at the first document
 * that the validator refuses; the others are then updated one by one, so that it does not keep them back.
 */
export async function updateAccepted<T extends { _id: string }>(
  collection: Collection<T>,
  { ids, where }: { ids: readonly string[]; where: Document },
  update: Document[],
): Promise<AcceptedUpdates> {
  if (ids.length === 0) return { updated: 0, refused: [] };
  const of = (_id: string | Document) => ({ ...where, _id }) as unknown as Filter<T>;
  const options = acrossTenants('loop');
  try {
    const { modifiedCount } = await collection.updateMany(of({ $in: ids }), update, options);
    return { updated: modifiedCount, refused: [] };
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const refused: string[] = [];
  let updated = 0;
  for (const id of ids) {
    try {
      updated += (await collection.updateOne(of(id), update, options)).modifiedCount;
    } catch (error) {
      if (!isRefused(error)) throw error;
      refused.push(id);
    }
  }
  return { updated, refused };
}

const isRefused = (error: unknown): boolean =>
  error instanceof MongoError && error.code === REFUSED_BY_VALIDATOR;
