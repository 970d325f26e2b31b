import type { Collection, Filter } from 'mongodb';
import { acrossTenants } from '../../platform/database/tenant-filters.js';

/** Records that are read at once. */
export const PAGE = 200;

/** Records of a page that may make this many calls, or fewer if a page has at most `most`. At least one. */
export const pageLimit = (calls: number, most = PAGE): number =>
  Math.min(most, Math.max(1, Math.ceil(calls)));

/** Comparisons need no history. */
const projection = { timeline: 0 } as const;

/**
 * The place of a comparison: in the open records of all tenants (`tenant` is null), or in those that a tenant has created before
 * `until`. Plain values, because a workflow keeps it.
 */
export type PagePosition = {
  tenant: string | null;
  after: { id: string; createdAt: string } | null;
  until: string;
  /** The place in a provider's own list, which is read after the records. Absent before it. */
  list?: { provider: string; cursor: string | null };
};

/**
 * The tenants whose records a position has not passed, the first with its place in them. If the tenant of the position is not
 * listed any more, they are those after it, in the order of ids.
 */
export function tenantsLeft(
  tenants: readonly string[],
  from: PagePosition | null,
): { tenants: readonly string[]; after: PagePosition['after'] } {
  if (from?.tenant == null) return { tenants, after: null };
  const { tenant, after } = from;
  const begin = tenants.indexOf(tenant);
  return begin < 0
    ? { tenants: tenants.filter((each) => each > tenant), after: null }
    : { tenants: tenants.slice(begin), after };
}

/** The fields by which records are paged. */
type Paged = { _id: string; created_at: Date };

/** A condition of records, and the index with a tenant's ones by the time of their creation. */
type Among<R> = { filter: Filter<R>; index: Readonly<Record<string, 1 | -1>> };

/** A page of records, and the position of the next one; null after the last. */
export type RecordPage<R> = { records: readonly R[]; next: PagePosition | null };

/**
 * Yields pages of records from a position on: first the open ones that were created before `since`, of all tenants, then those
 * that each of these tenants has created since then, the oldest first. Only the last page may be empty. `among`: those alone
 * that satisfy its condition.
 */
export async function* recordsSince<R extends Paged>(
  collection: Collection<R>,
  { since, tenants, limit = PAGE }: { since: Date; tenants: readonly string[]; limit?: number },
  from: PagePosition | null = null,
  among?: Among<R>,
): AsyncGenerator<RecordPage<R>> {
  // Records that are created meanwhile are in flight, and would keep a busy tenant's pages from ending.
  const until = from?.until ?? new Date().toISOString();
  const order = [null, ...tenants];
  let at: PagePosition | null = from ?? { tenant: null, after: null, until };
  if (at.tenant !== null) {
    const { tenants: left, after } = tenantsLeft(tenants, at);
    at = left[0] === undefined ? null : { tenant: left[0], after, until };
  }
  while (at) {
    const { tenant, after }: PagePosition = at;
    const records: R[] =
      tenant === null
        ? await openBefore(collection, { among, since, limit }, after)
        : await createdSince(
            collection,
            { among, tenant, since, until: new Date(until), limit },
            after,
          );
    const last = records.length === limit ? records.at(-1) : undefined;
    const following: string | null | undefined = order[order.indexOf(tenant) + 1];
    if (last) {
      const after = { id: last._id, createdAt: last.created_at.toISOString() };
      at = { tenant, after, until };
    } else at = following == null ? null : { tenant: following, after: null, until };
    if (records.length > 0 || !at) yield { records, next: at };
  }
}

/** An open record always has a next check, so its index has the few that are open. */
async function openBefore<R extends Paged>(
  collection: Collection<R>,
  { among, since, limit }: { among: Among<R> | undefined; since: Date; limit: number },
  after: PagePosition['after'],
): Promise<R[]> {
  const filter = {
    ...(among && { $and: [among.filter] }),
    next_check_at: { $type: 'date' },
    created_at: { $lt: since },
    ...(after && { _id: { $gt: after.id } }),
  } as Filter<R>;
  const options = { projection, hint: { next_check_at: 1 }, ...acrossTenants('loop') };
  const found = collection.find(filter, options).sort({ _id: 1 });
  return (await found.limit(limit).toArray()) as R[];
}

type CreatedSince<R> = {
  among: Among<R> | undefined;
  tenant: string;
  since: Date;
  until: Date;
  limit: number;
};

async function createdSince<R extends Paged>(
  collection: Collection<R>,
  { among, tenant, since, until, limit }: CreatedSince<R>,
  after: PagePosition['after'],
): Promise<R[]> {
  const createdAt = after ? new Date(after.createdAt) : since;
  const filter = {
    ...(among && { $and: [among.filter] }),
    tenant_id: tenant,
    created_at: { $gte: createdAt, $lt: until },
    ...(after && { $nor: [{ created_at: createdAt, _id: { $lte: after.id } }] }),
  } as Filter<R>;
  const options = { projection, ...(among && { hint: among.index }) };
  const found = collection.find(filter, options).sort({ created_at: 1, _id: 1 });
  return (await found.limit(limit).toArray()) as R[];
}

/** Reads the page after a record, or the first one. */
type ReadPage<R> = (after: R | undefined) => Promise<R[]>;

/** Yields pages until one is not full. */
export async function* paged<R>(read: ReadPage<R>): AsyncGenerator<R[]> {
  let after: R | undefined;
  do {
    const page = await read(after);
    if (page.length > 0) yield page;
    after = page.length === PAGE ? page.at(-1) : undefined;
  } while (after);
}
