import type { AnyBulkWriteOperation, Db } from 'mongodb';
import { isDuplicate } from '../../platform/database/duplicate.js';
import { balancesAt } from './balance.js';
import type { ClosingDocument } from './collections.js';
import { closingCollections, endOfDay, nextTenants, type DaySums } from './days.js';
import { KEPT_ACCOUNTS, readMovements, type AccountMovement, type Movements } from './movements.js';
import { lagosDay } from './wallet.js';

/**
 * A day is closed this long after its end. A posting has the time of its commit's decision, by the database server, and
 * MongoDB ends a transaction after 60 s (3 s in our deployments), so no commit of that day is left.
 */
export const CLOSE_AFTER_MS = 60 * 60 * 1000;

const BATCH = 500;
const TENANTS = 100;

/** The days that were closed, and those that can't be: some of their postings do not balance. */
export type ClosedDays = { closed: number; refused: string[] };

type Settings = {
  /** Called often during a long read. */
  onProgress?: () => void;
  /** Asked between two days: true ends the work early. */
  isOver?: () => boolean;
  /** Accounts of a day whose movements are kept in memory. */
  keptAccounts?: number;
};

/**
 * Closes the due days of the tenants after `after`, and of each tenant from the oldest on. `next` is the tenant after which to
 * continue if `isOver` ended it early, null at the end. A repeat closes nothing twice, so a run may die anywhere.
 */
export async function closeDueDays(
  db: Db,
  after: string,
  settings: Settings = {},
): Promise<ClosedDays & { next: string | null }> {
  const { localTime } = await db.admin().command({ hello: 1 });
  const until = new Date(Number(localTime) - CLOSE_AFTER_MS);
  const refused: string[] = [];
  let closed = 0;
  let previous = after;
  for (;;) {
    const tenants = await nextTenants(db, previous, TENANTS);
    if (tenants.length === 0) return { closed, refused, next: null };
    for (const tenantId of tenants) {
      for (;;) {
        if (settings.isOver?.()) return { closed, refused, next: previous };
        settings.onProgress?.();
        const result = await closeNextDay(db, tenantId, until, settings);
        if (result === 'closed') closed += 1;
        else if (result !== 'none') refused.push(result.refused);
        if (result !== 'closed') break;
      }
      previous = tenantId;
    }
  }
}

/** Closes the oldest open day of a tenant that ended before `until`. */
async function closeNextDay(
  db: Db,
  tenantId: string,
  until: Date,
  { onProgress, keptAccounts = KEPT_ACCOUNTS }: Settings,
): Promise<'closed' | 'none' | { refused: string }> {
  const { days, postings } = closingCollections(db);
  const last = await days.findOne({ tenant_id: tenantId }, { sort: { day: -1 } });
  const oldest = await postings.findOne(
    { tenant_id: tenantId, ...(last && { at: { $gte: endOfDay(last.day) } }) },
    { sort: { at: 1, _id: 1 }, projection: { at: 1 } },
  );
  if (!oldest) return 'none';
  const day = lagosDay(oldest.at);
  if (endOfDay(day) > until) return 'none';
  let read = 0;
  const { sums, movements } = await readMovements(db, { tenantId, day, keptAccounts }, () => {
    read += 1;
    if (read % 1_000 === 0) onProgress?.();
  });
  if (sums.unbalanced.length > 0) return { refused: `${tenantId}/${day}` };
  const before = last?.day ?? null;
  const accounts = await writeClosings(db, { tenantId, day, before }, movements, onProgress);
  await writeDay(db, { tenantId, day, accounts }, sums);
  return 'closed';
}

/** A day of a tenant, and the last closed day before it. */
type Day = { tenantId: string; day: string; before: string | null };

/**
 * Writes the closings of a day, or replaces those that a run has written that died before the day was closed. Returns their
 * number.
 */
async function writeClosings(
  db: Db,
  of: Day,
  movements: Movements,
  onProgress?: () => void,
): Promise<number> {
  let accounts = 0;
  for (;;) {
    const batch = await nextOf(movements, BATCH);
    if (batch.length > 0) await writeBatch(db, of, batch);
    accounts += batch.length;
    if (batch.length < BATCH) return accounts;
    onProgress?.();
  }
}

/** At most `limit` of the movements that follow; fewer at their end. */
async function nextOf(movements: Movements, limit: number): Promise<AccountMovement[]> {
  const found: AccountMovement[] = [];
  while (found.length < limit) {
    const next = await movements.next();
    if (next === null) break;
    found.push(next);
  }
  return found;
}

async function writeBatch(
  db: Db,
  { tenantId, day, before }: Day,
  batch: readonly AccountMovement[],
): Promise<void> {
  const accounts = batch.map(({ _id }) => _id);
  const balances = await balancesAt(db, { tenantId, closedDay: before }, accounts);
  const writes = batch.map(({ _id: account, debitsMinor, creditsMinor, postings }) => {
    const opening = balances.get(account) ?? 0n;
    const replacement: Omit<ClosingDocument, '_id'> = {
      tenant_id: tenantId,
      day,
      account,
      opening_minor: opening,
      debits_minor: debitsMinor,
      credits_minor: creditsMinor,
      closing_minor: opening + creditsMinor - debitsMinor,
      postings,
    };
    const filter = { _id: `${tenantId}/${day}/${account}`, tenant_id: tenantId };
    return { replaceOne: { filter, replacement, upsert: true } };
  });
  const { closings } = closingCollections(db);
  await closings.bulkWrite(writes satisfies AnyBulkWriteOperation<ClosingDocument>[], {
    ordered: false,
  });
}

/** Closes the day: from now on its closings count. */
async function writeDay(
  db: Db,
  { tenantId, day, accounts }: { tenantId: string; day: string; accounts: number },
  { postings, digest }: DaySums,
): Promise<void> {
  try {
    await closingCollections(db).days.insertOne({
      _id: `${tenantId}/${day}`,
      tenant_id: tenantId,
      day,
      postings,
      accounts,
      digest,
      closed_at: new Date(),
    });
  } catch (error) {
    // Another run has closed it, with the same closings.
    if (!isDuplicate(error)) throw error;
  }
}
