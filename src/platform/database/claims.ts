import { randomUUID } from 'node:crypto';
import type { Collection, Document } from 'mongodb';
import { updateAccepted } from './accepted-updates.js';
import { acrossTenants } from './tenant-filters.js';

/**
 * A document with work that one process at a time does. `next_check_at` of a claimed one is the end of the claim, and
 * `claim.from` is its value before.
 */
type Claimable = { _id: string; next_check_at: Date | null };

/**
 * The claimed documents, and whether more of them may be due. `expired`: the number of those whose earlier claim had run out.
 * `refused`: due ones that the validator of their collection refuses, so that no process can claim them.
 */
export type Claimed<T> = { claimed: T[]; more: boolean; expired?: number; refused?: Refused[] };

/** True if the next page may be claimed at once. A page of refused documents alone must not be read again before a pause. */
export const readsOn = ({ claimed, more, refused = [] }: Claimed<unknown>): boolean =>
  more && (claimed.length > 0 || refused.length === 0);

/** A document that the validator of its collection refuses to change. */
export type Refused = { _id: string; tenant_id?: string | null };

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

/** A process leaves a refused document out of its pages for this time. */
const REFUSED_FOR_MS = 60_000;
/** Refused documents that a process leaves out. Any more of them take places in its pages. */
const MAX_REFUSED = 1_000;

/**
 * Creates the claims of one process on a collection. A document that its validator refuses takes no part for a while: such
 * documents stay the oldest due ones, and would fill each page.
 */
export function createClaims<T extends Claimable>(collection: Collection<T>) {
  const refusedUntil = new Map<string, number>();
  const leftOut = (now: Date): string[] => {
    for (const [id, until] of refusedUntil) if (until <= now.getTime()) refusedUntil.delete(id);
    return [...refusedUntil.keys()].slice(0, MAX_REFUSED);
  };
  return {
    async claimDue(page: ClaimPage): Promise<Claimed<T>> {
      const claimed = await claimDue(collection, page, leftOut(page.now));
      const until = page.now.getTime() + REFUSED_FOR_MS;
      for (const { _id } of claimed.refused ?? []) refusedUntil.set(_id, until);
      return claimed;
    },
  };
}

/** A page of claims. `projection`: the fields of the claimed documents. */
type ClaimPage = { now: Date; until: Date; limit: number; projection?: object };

/**
 * Claims documents whose `next_check_at` has passed, the oldest first, until `until`: no other process takes them before. If
 * this process dies, they are due again at that time. Two processes never claim the same document.
 */
async function claimDue<T extends Claimable>(
  collection: Collection<T>,
  { now, until, limit, projection }: ClaimPage,
  leftOut: string[],
): Promise<Claimed<T>> {
  const documents = collection as unknown as Collection<Claimable & Document>;
  // The type is named so that the partial index serves this query.
  const due = { next_check_at: { $lt: now, $type: 'date' as const } };
  const found = await documents
    .find(leftOut.length > 0 ? { ...due, _id: { $nin: leftOut } } : due, {
      projection: { _id: 1, tenant_id: 1, next_check_at: 1, 'claim.until': 1 },
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
  const { updated, refused: refusedIds } = await updateAccepted(documents, { ids, where: due }, [
    { $set: { next_check_at: until, claim, version: nextVersion } },
  ]);
  const refused = found
    .filter(({ _id }) => refusedIds.includes(_id))
    .map(({ _id, tenant_id: tenant = null }) => ({ _id, tenant_id: tenant as string | null }));
  const besides = { more, ...(refused.length > 0 && { refused }) };
  // An update that ends at a refused document does not tell the number of those before it.
  if (updated === 0 && refused.length === 0) return { claimed: [], more };
  const mine = { _id: { $in: ids }, 'claim.by': by };
  const claimed = await documents
    .find(mine, { ...(projection && { projection }), ...acrossTenants('loop') })
    .toArray();
  const mineNow = new Set(claimed.map(({ _id }) => _id));
  const expired = found.filter((each) => mineNow.has(each._id) && isClaimed(each)).length;
  return { claimed: claimed as unknown as T[], ...besides, ...(expired > 0 && { expired }) };
}

/** True for a document that is due because its claim has run out: nothing has changed its check since. */
const isClaimed = ({ claim, next_check_at: at }: Claimable & Document): boolean =>
  claim?.until instanceof Date && claim.until.getTime() === at?.getTime();

/** Gives claimed documents back that nothing was done with: they are due as they were before. */
export async function releaseClaims<T extends Claimable>(
  collection: Collection<T>,
  claimed: readonly Claimable[],
): Promise<void> {
  await updateAccepted(collection, stillClaimed(claimed), [
    { $set: { next_check_at: checkWithoutClaim, claim: '$$REMOVE', version: nextVersion } },
  ]);
}

/** The claimed documents whose next check has not changed since: nothing else has happened to them. */
export const stillClaimed = (claimed: readonly Claimable[]) => ({
  ids: claimed.map(({ _id }) => _id),
  where: {
    next_check_at: {
      $in: [...new Set(claimed.map(({ next_check_at: at }) => Number(at)))].map(
        (at) => new Date(at),
      ),
    },
  },
});
