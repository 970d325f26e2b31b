import type { Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { OPEN_POSTINGS, readBalance } from '../../core/ledger/balance.js';
import { closingCollections, endOfDay } from '../../core/ledger/days.js';
import type { PostingDocument } from '../../core/ledger/collections.js';
import { accounts } from '../../core/ledger/posting.js';
import { postingIds, type EntryType } from './schema.js';

/** The selection of a statement. `from` is inclusive, `until` exclusive. */
export type EntryListing = {
  page: number;
  limit: number;
  type?: EntryType | undefined;
  from: Date | undefined;
  until: Date | undefined;
};

/** Reads balances and statements of wallets. */
export type Wallets = ReturnType<typeof createWallets>;

/** Creates the reader of balances and statements. Both come from postings and their closings. */
export function createWallets(database: Database) {
  const { postings, closings, days } = closingCollections(database.db);

  /** The number of entries over all time: closed days have it in the closing of the account. */
  async function countAll(tenantId: string): Promise<number> {
    const account = accounts.available(tenantId);
    const [closed, removed] = await Promise.all([
      days.findOne({ tenant_id: tenantId }, { sort: { day: -1 } }),
      days.findOne(
        { tenant_id: tenantId, 'archived.removed_at': { $type: 'date' } },
        { sort: { day: -1 } },
      ),
    ]);
    const day = { ...(removed && { $gt: removed.day }), ...(closed && { $lte: closed.day }) };
    const [counted] = closed
      ? await closings
          .aggregate<{ postings: number }>([
            { $match: { tenant_id: tenantId, account, day } },
            { $group: { _id: null, postings: { $sum: '$postings' } } },
          ])
          .toArray()
      : [];
    const open = closed ? { at: { $gte: endOfDay(closed.day) } } : {};
    const later = await postings.countDocuments(
      { tenant_id: tenantId, 'legs.account': account, ...open },
      { hint: OPEN_POSTINGS },
    );
    return (counted?.postings ?? 0) + later;
  }

  return {
    balance: (tenantId: string) => readBalance(database, tenantId),

    /**
     * The postings that change the available amount, newest first. Pages are read along the index of a tenant's postings by time, so a
     * deep page costs the postings that it skips. The total of a selection costs all postings of its days: their accounts are in no
     * index, because every movement of money would pay for one.
     */
    async entries(
      tenantId: string,
      { page, limit, type, from, until }: EntryListing,
    ): Promise<{ items: PostingDocument[]; total: number }> {
      const filter: Filter<PostingDocument> = {
        tenant_id: tenantId,
        'legs.account': accounts.available(tenantId),
        ...(type !== undefined && { _id: postingIds(type) }),
        ...((from ?? until) && {
          at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
        }),
      };
      const selects = type !== undefined || (from ?? until) !== undefined;
      const [items, total] = await Promise.all([
        postings
          .find(filter, { hint: OPEN_POSTINGS })
          .sort({ at: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        selects ? postings.countDocuments(filter, { hint: OPEN_POSTINGS }) : countAll(tenantId),
      ]);
      return { items, total };
    },
  };
}
