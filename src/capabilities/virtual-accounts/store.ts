import type { Collection } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { textEquals } from '../../platform/database/indexes.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { utcDay } from '../../core/commit/daily-counts.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import {
  applyVirtualAccountFact,
  type AccountKey,
  type ApplyAccountFactResult,
} from './mutations.js';
import { accountRequeries } from './requeries.js';
import type { AccountFact } from './transitions.js';
import {
  accountCounts,
  BY_CUSTOMER,
  BY_NUMBER,
  hasBegun,
  isOpenState,
  LIST_INDEXES,
  STATE_INDEXES,
  type AccountState,
  type VirtualAccount,
} from './record.js';

/** A page of a tenant's accounts: filters, sort order and position. */
export type AccountListing = {
  limit: number;
  offset: number;
  sort: { field: keyof typeof LIST_INDEXES; descending: boolean };
  status?: AccountState | undefined;
  customerId?: string | undefined;
  accountNumber?: string | undefined;
  /** Inclusive, the beginning of a UTC day. */
  from?: Date | undefined;
  /** Exclusive, the beginning of a UTC day. */
  until?: Date | undefined;
};

/** The store of virtual accounts. */
export type VirtualAccounts = ReturnType<typeof createVirtualAccounts>;

/** The store of virtual accounts. States and counts change only through commits. */
export function createVirtualAccounts(
  { db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<VirtualAccount>('virtual_accounts');

  /** A few days of all accounts, in another order than that of creation, are cheaper by creation: MongoDB compares. */
  const hintOf = (query: AccountListing) =>
    (query.from ?? query.until) && query.sort.field !== 'created_at'
      ? {}
      : { hint: indexOf(query) };

  function indexOf({ sort, status, customerId, accountNumber }: AccountListing): object {
    if (customerId !== undefined) return BY_CUSTOMER;
    if (accountNumber !== undefined) return LIST_INDEXES.account_number;
    return status === undefined ? LIST_INDEXES[sort.field] : STATE_INDEXES[sort.field];
  }

  /** The number of accounts that a list has. Only a customer's few accounts, or those of one number, are counted one by one. */
  function countAll(tenantId: string, query: AccountListing): Promise<number> {
    const { status, from, until, customerId, accountNumber } = query;
    if (customerId !== undefined || accountNumber !== undefined) {
      return collection.countDocuments(filterOf(tenantId, query), { hint: indexOf(query) });
    }
    return accountCounts.total(db, tenantId, {
      ...(status && { status }),
      ...(from && { from: utcDay(from) }),
      ...(until && { until: utcDay(until) }),
    });
  }

  return {
    ...createInstructionStore<VirtualAccount>({
      collection: db.collection<InstructionRecord>('virtual_accounts'),
      clock,
      stallTimeoutMs,
    }),

    /** Applies a fact by the rules of the transition. Returns the verdict and the account afterwards. */
    applyFact: (
      { tenant_id: tenantId, _id: id, customer_id: customer }: AccountKey,
      fact: AccountFact,
    ): Promise<ApplyAccountFactResult> =>
      groupCommit.commit(applyVirtualAccountFact, { tenantId, id, customer, fact }),

    /** A tenant's page of accounts with the total of the list. */
    async list(tenantId: string, query: AccountListing) {
      const direction = query.sort.descending ? -1 : 1;
      const [items, total] = await Promise.all([
        collection
          .find(filterOf(tenantId, query), { projection: { timeline: 0 }, ...hintOf(query) })
          .sort({ [query.sort.field]: direction, _id: direction })
          .skip(query.offset)
          .limit(query.limit)
          .toArray(),
        countAll(tenantId, query),
      ]);
      return { items, total };
    },

    ...accountLookUps(collection),
    ...accountRequeries(collection, clock),
  };
}

/** Queries over all tenants, for the messages of providers. */
const accountLookUps = (collection: Collection<VirtualAccount>) => ({
  /**
   * The account of a number at a provider, of any tenant, for money of this time. A provider may give a number again after it was
   * closed: of the accounts that had begun, it is the newest that was not closed yet, or else the newest. Null if none had begun.
   */
  async withNumber(
    provider: string,
    accountNumber: string,
    at: Date,
  ): Promise<VirtualAccount | null> {
    const found = await collection
      .find(
        { provider, account_number: textEquals(accountNumber) },
        { projection: { timeline: 0 }, hint: BY_NUMBER, ...acrossTenants('look_up') },
      )
      .sort({ _id: -1 })
      .limit(100)
      .toArray();
    const begun = found.filter((account) => hasBegun(account, at));
    const isOpenAt = ({ state, closed_at: until }: VirtualAccount) =>
      isOpenState(state) || (until !== null && at < until);
    return begun.find(isOpenAt) ?? begun[0] ?? null;
  },
});

function filterOf(tenantId: string, query: AccountListing) {
  const { status, customerId, accountNumber, from, until } = query;
  return {
    tenant_id: tenantId,
    ...(status && { state: status }),
    ...(customerId !== undefined && { customer_id: customerId }),
    ...(accountNumber !== undefined && { account_number: accountNumber }),
    ...((from ?? until) && {
      created_at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
    }),
  };
}
