import type { Collection, Filter } from 'mongodb';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { utcDay } from '../../core/commit/daily-counts.js';
import { DAY_MS, HOUR_MS } from '../../shared/durations.js';
import type { VirtualAccount } from './record.js';

/** An account whose provider is asked to report the deposits of a day (`YYYY-MM-DD`, UTC) again. */
export type AccountRequery = Pick<VirtualAccount, '_id' | 'tenant_id'> & {
  accountNumber: string;
  handle: string;
  day: string;
};

/** Pause between two requeries of an account about which a past day is open. */
const CATCH_UP_MS = HOUR_MS;

/** Time after its last day for which a closed account is asked about although the provider refuses. */
const GIVEN_UP_AFTER_MS = 7 * DAY_MS;

const startOf = (day: string): Date => new Date(`${day}T00:00:00.000Z`);
const dayAfter = (day: string): string => utcDay(new Date(startOf(day).getTime() + DAY_MS));
const dayBefore = (at: Date): string => utcDay(new Date(at.getTime() - DAY_MS));

/**
 * The day that the provider is asked about: the earliest whose end it was not asked about, or else the present one. An account
 * that was never asked about begins with yesterday, because the list of deposits has the days before.
 */
export function dayToRequery(
  {
    requery_day: next,
    requeried_at: last,
    created_at: created,
    requery_through: through,
    state,
  }: RequeriedFields,
  now: Date,
): string {
  const first = last === null ? dayBefore(now) : utcDay(last);
  // A closing that was refused leaves its last day behind.
  const end = state === 'closing' || state === 'closed' ? through : undefined;
  const day = next ?? (first < utcDay(created) ? utcDay(created) : first);
  return [day, utcDay(now), ...(end === undefined ? [] : [end])].toSorted()[0] ?? day;
}

type RequeriedFields = Pick<
  VirtualAccount,
  'requery_day' | 'requeried_at' | 'created_at' | 'requery_through' | 'state'
>;

/** Accounts whose deposits the provider may be asked about: active ones, and closed ones until the day after their closing. */
const ACTIVE = { state: 'active' } as const;
const CLOSED = {
  state: { $in: ['closing', 'closed'] as VirtualAccount['state'][] },
  requery_through: { $type: 'string' },
} as const;

/** The accounts that may be asked about: after the provider's pause, which for a pause of a day ends with the day. */
function dueBy(now: Date, everyMs: number): Filter<VirtualAccount> {
  const before = everyMs < DAY_MS ? new Date(now.getTime() - everyMs) : startOf(utcDay(now));
  const behind = new Date(now.getTime() - Math.min(everyMs, CATCH_UP_MS));
  return {
    $or: [
      { requeried_at: null },
      { requeried_at: { $lt: before } },
      { requeried_at: { $lt: behind }, requery_day: { $lt: utcDay(now) } },
    ],
  };
}

const REQUERIED = {
  account_number: 1,
  'face.handle': 1,
  tenant_id: 1,
  requery_day: 1,
  requeried_at: 1,
  created_at: 1,
  requery_through: 1,
  state: 1,
} as const;

/** Queries over all tenants, for the search of deposits that no message has reported. */
export const accountRequeries = (collection: Collection<VirtualAccount>, clock: () => Date) => ({
  /**
   * Accounts whose deposits the provider may be asked to report again, those that have waited longest first, and closed ones
   * before active ones. Each is taken once in the provider's pause, over all processes.
   */
  async takeForRequery(
    provider: string,
    everyMs: number,
    limit: number,
  ): Promise<AccountRequery[]> {
    const now = clock();
    const isDue = dueBy(now, everyMs);
    const find = (which: Filter<VirtualAccount>, most: number) =>
      collection
        .find({ provider, ...which, ...isDue }, { projection: REQUERIED, ...acrossTenants('loop') })
        .sort({ requeried_at: 1 })
        .limit(most)
        .toArray();
    const closed = await find(CLOSED, limit);
    const left = limit - closed.length;
    const found = left === 0 ? closed : [...closed, ...(await find(ACTIVE, left))];
    const taken: AccountRequery[] = [];
    for (const account of found) {
      const { _id, tenant_id, account_number: accountNumber, face } = account;
      const { modifiedCount } = await collection.updateOne(
        { _id, tenant_id, $and: [{ $or: [ACTIVE, CLOSED] }, isDue] },
        { $set: { requeried_at: now }, $inc: { version: 1 } },
      );
      // The projection leaves out a face that is null.
      const handle = face?.handle;
      if (modifiedCount !== 1 || accountNumber === null || handle === undefined) continue;
      taken.push({ _id, tenant_id, accountNumber, handle, day: dayToRequery(account, now) });
    }
    return taken;
  },

  /**
   * The provider has taken the request: the next one is about the day after, once that has begun. After its last day a closed
   * account is not asked about any more.
   */
  async noteRequeried({ _id, tenant_id, day }: Pick<AccountRequery, '_id' | 'tenant_id' | 'day'>) {
    const next = day < utcDay(clock()) ? dayAfter(day) : day;
    await collection.updateOne(
      { _id, tenant_id },
      { $set: { requery_day: next }, $inc: { version: 1 } },
    );
    await collection.updateOne(
      { _id, tenant_id, state: 'closed', requery_through: { $lt: next } },
      { $unset: { requery_through: 1 }, $inc: { version: 1 } },
    );
  },

  /**
   * The provider has not taken the request: it is asked about the same day again after the pause. A closed account about which it
   * refuses requests is given up days after its last one.
   */
  async noteUnanswered(
    { _id, tenant_id, day }: AccountRequery,
    { refused }: { refused: boolean },
  ): Promise<void> {
    await collection.updateOne(
      { _id, tenant_id },
      { $set: { requery_day: day }, $inc: { version: 1 } },
    );
    if (!refused) return;
    const through = utcDay(new Date(clock().getTime() - GIVEN_UP_AFTER_MS));
    await collection.updateOne(
      { _id, tenant_id, state: 'closed', requery_through: { $lt: through } },
      { $unset: { requery_through: 1 }, $inc: { version: 1 } },
    );
  },

  /** The provider was not asked about these: they come first the next time. */
  async putBackForRequery(accounts: readonly AccountRequery[]): Promise<void> {
    for (const { _id, tenant_id, day } of accounts) {
      await collection.updateOne(
        { _id, tenant_id },
        { $set: { requeried_at: null, requery_day: day }, $inc: { version: 1 } },
      );
    }
  },
});
