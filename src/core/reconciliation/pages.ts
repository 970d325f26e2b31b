import type { Collection, Filter } from 'mongodb';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { InstructionRecord } from '../instructions/instruction.js';

/** Records that are read at once. */
export const PAGE = 200;
/** Comparisons need no history. */
const projection = { timeline: 0 } as const;

/** Reads the page after a record, or the first one. */
type ReadPage<R> = (after: R | undefined) => Promise<R[]>;

/**
 * Yields pages of records: first the open ones that were created before `since`, of all tenants, then those that each of
 * these tenants has created since then, the oldest first.
 */
export async function* recordsSince<R extends InstructionRecord>(
  collection: Collection<R>,
  { since, tenants }: { since: Date; tenants: readonly string[] },
): AsyncGenerator<R[]> {
  yield* paged(openBefore(collection, since));
  for (const tenantId of tenants) yield* paged(createdSince(collection, tenantId, since));
}

/** An open record always has a next check, so its index has the few that are open. */
const openBefore =
  <R extends InstructionRecord>(collection: Collection<R>, since: Date): ReadPage<R> =>
  async (after) => {
    const filter = {
      next_check_at: { $type: 'date' },
      created_at: { $lt: since },
      ...(after && { _id: { $gt: after._id } }),
    } as Filter<R>;
    const options = { projection, hint: { next_check_at: 1 }, ...acrossTenants('loop') };
    const found = collection.find(filter, options).sort({ _id: 1 });
    return (await found.limit(PAGE).toArray()) as R[];
  };

const createdSince = <R extends InstructionRecord>(
  collection: Collection<R>,
  tenantId: string,
  since: Date,
): ReadPage<R> => {
  // Records that are created meanwhile are in flight, and would keep a busy tenant's pages from ending.
  const until = new Date();
  return async (after) => {
    const filter = {
      tenant_id: tenantId,
      created_at: { $gte: after?.created_at ?? since, $lt: until },
      ...(after && { $nor: [{ created_at: after.created_at, _id: { $lte: after._id } }] }),
    } as Filter<R>;
    const found = collection.find(filter, { projection }).sort({ created_at: 1, _id: 1 });
    return (await found.limit(PAGE).toArray()) as R[];
  };
};

/** Yields pages until one is not full. */
export async function* paged<R>(read: ReadPage<R>): AsyncGenerator<R[]> {
  let after: R | undefined;
  do {
    const page = await read(after);
    if (page.length > 0) yield page;
    after = page.length === PAGE ? page.at(-1) : undefined;
  } while (after);
}
