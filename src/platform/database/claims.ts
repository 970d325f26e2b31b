import { randomUUID } from 'node:crypto';
import type { Collection, Document } from 'mongodb';
import { acrossTenants } from './tenant-filters.js';

/**
 * A document with work that one process at a time does. `next_check_at` of a claimed one is the end of the claim, and
 * `claim.from` is its value before.
 */
type Claimable = { _id: string; next_check_at: Date | null };

/** The claimed documents, and whether more of them may be due. `expired`: the number of those whose earlier claim had run out. */
export type Claimed<T> = { claimed: T[]; more: boolean; expired?: number };

/** Notes what a process has claimed in a collection, and what it has given back. */
export type ObserveClaims = (
  collection: string,
  counts: { claimed?: number; expired?: number | undefined; released?: number },
) => void;

/** The next version of a document that has versions; an expression for an update. */
export const nextVersion = {
  $cond: [{ $isNumber: '$version' }, { $add: ['$version', 1] }, '$$REMOVE'],
};

/** The next check of a document as it is without the claim; an expression for an update. */
export const checkWithoutClaim = {
  $cond: [{ $eq: ['$claim.until', '$next_check_at'] }, '$claim.from', '$next_check_at'],
};

/**
 * Claims documents whose `next_check_at` has passed, the oldest first, until `until`: no other process takes them before. If
 * this process dies, they are due again at that time. Two processes never claim the same document.
 */
export async function claimDue<T extends Claimable>(
  collection: Collection<T>,
  { now, until, limit, projection }: { now: Date; until: Date; limit: number; projection?: object },
): Promise<Claimed<T>> {
  const documents = collection as unknown as Collection<Claimable & Document>;
  // The type is named so that the partial index serves this query.
  const due = { next_check_at: { $lt: now, $type: 'date' as const } };
  const found = await documents
    .find(due, {
      projection: { _id: 1, next_check_at: 1, 'claim.until': 1 },
      ...acrossTenants('loop'),
    })
    .sort({ next_check_at: 1 })
    .limit(limit)
    .toArray();
  const more = found.length === limit;
  if (found.length === 0) return { claimed: [], more };
  const by = randomUUID();
  const ids = found.map(({ _id }) => _id);
  const claim = { by, until, from: checkWithoutClaim };
  const { modifiedCount } = await documents.updateMany(
    { _id: { $in: ids }, ...due },
    [{ $set: { next_check_at: until, claim, version: nextVersion } }],
    acrossTenants('loop'),
  );
  if (modifiedCount === 0) return { claimed: [], more };
  const mine = { _id: { $in: ids }, 'claim.by': by };
  const claimed = await documents
    .find(mine, { ...(projection && { projection }), ...acrossTenants('loop') })
    .toArray();
  const mineNow = new Set(claimed.map(({ _id }) => _id));
  const expired = found.filter((each) => mineNow.has(each._id) && isClaimed(each)).length;
  return { claimed: claimed as unknown as T[], more, ...(expired > 0 && { expired }) };
}

/** True for a document that is due because its claim has run out: nothing has changed its check since. */
const isClaimed = ({ claim, next_check_at: at }: Claimable & Document): boolean =>
  claim?.until instanceof Date && claim.until.getTime() === at?.getTime();

/** Gives claimed documents back that nothing was done with: they are due as they were before. */
export async function releaseClaims<T extends Claimable>(
  collection: Collection<T>,
  claimed: readonly Claimable[],
): Promise<void> {
  const documents = collection as unknown as Collection<Claimable>;
  await documents.updateMany(
    stillClaimed(claimed),
    [{ $set: { next_check_at: checkWithoutClaim, claim: '$$REMOVE', version: nextVersion } }],
    acrossTenants('loop'),
  );
}

/** Filter for the claimed documents whose next check has not changed since: nothing else has happened to them. */
export const stillClaimed = (claimed: readonly Claimable[]) => ({
  _id: { $in: claimed.map(({ _id }) => _id) },
  next_check_at: {
    $in: [...new Set(claimed.map(({ next_check_at: at }) => Number(at)))].map((at) => new Date(at)),
  },
});
