import type { Db } from 'mongodb';
import { OPEN_POSTINGS } from './balance.js';
import type { PostingDocument } from './collections.js';
import { byBytes, closingCollections, endOfDay, startOfDay, sumDay, type DaySums } from './days.js';

/** Accounts whose movements are read at once. */
const ACCOUNTS = 1_000;
/**
 * Accounts of a day whose movements are kept in memory. MongoDB adds up those of a day with more, which reads the postings twice and
 * takes about twice the time.
 */
export const KEPT_ACCOUNTS = 50_000;

/** The movements of an account: amounts that left it and arrived on it, both positive, and the postings with either. */
export type Movement = { debitsMinor: bigint; creditsMinor: bigint; postings: number };

/**
 * Reads the postings of a tenant on one day, and adds up the movements of each account. Memory grows neither with the postings of
 * the day nor with its accounts.
 */
export async function readMovements(
  db: Db,
  { tenantId, day, keptAccounts }: { tenantId: string; day: string; keptAccounts: number },
  onPosting?: () => void,
): Promise<{ sums: DaySums; movements: Movements }> {
  const kept = new Map<string, Movement>();
  const sums = await sumDay(db, tenantId, day, (posting) => {
    if (kept.size <= keptAccounts) addMovements(kept, posting);
    onPosting?.();
  });
  const areKept = kept.size <= keptAccounts;
  return { sums, movements: areKept ? inOrder(kept) : movementsOf(db, tenantId, day) };
}

/** The movements of a day by account, in the order of accounts, one after the other. */
export type Movements = { next(): Promise<AccountMovement | null> };
export type AccountMovement = Movement & { _id: string };

function inOrder(kept: ReadonlyMap<string, Movement>): Movements {
  const sorted = [...kept].toSorted(([a], [b]) => byBytes(a, b)).values();
  return {
    async next() {
      const { value } = sorted.next();
      return value ? { _id: value[0], ...value[1] } : null;
    },
  };
}

/** The same without any of them in memory. MongoDB adds them up, and keeps them on its disk if they are many. */
function movementsOf(db: Db, tenantId: string, day: string): Movements {
  const at = { $gte: startOfDay(day), $lt: endOfDay(day) };
  const minor = '$legs.amount_minor';
  // A posting counts once for an account of several legs: with the first of them.
  const isFirst = { $eq: ['$leg', { $indexOfArray: ['$accounts', '$legs.account'] }] };
  return closingCollections(db).postings.aggregate<AccountMovement>(
    [
      { $match: { tenant_id: tenantId, at } },
      { $project: { legs: 1, accounts: '$legs.account' } },
      { $unwind: { path: '$legs', includeArrayIndex: 'leg' } },
      {
        $group: {
          _id: '$legs.account',
          debitsMinor: { $sum: { $max: [{ $subtract: [0n, minor] }, 0n] } },
          creditsMinor: { $sum: { $max: [minor, 0n] } },
          postings: { $sum: { $cond: [isFirst, 1, 0] } },
        },
      },
      { $sort: { _id: 1 } },
    ],
    { hint: OPEN_POSTINGS, allowDiskUse: true, batchSize: ACCOUNTS },
  );
}

/** Adds a posting to the movements of its accounts. It counts once for an account of several legs. */
function addMovements(movements: Map<string, Movement>, { legs }: PostingDocument): void {
  const seen = new Set<string>();
  for (const { account, amount_minor: amountMinor } of legs) {
    let movement = movements.get(account);
    if (!movement) {
      movement = { debitsMinor: 0n, creditsMinor: 0n, postings: 0 };
      movements.set(account, movement);
    }
    if (amountMinor < 0n) movement.debitsMinor -= amountMinor;
    else movement.creditsMinor += amountMinor;
    if (!seen.has(account)) movement.postings += 1;
    seen.add(account);
  }
}
