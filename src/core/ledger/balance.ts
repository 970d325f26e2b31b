import type { ClientSession, Db } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { closingCollections, endOfDay } from './days.js';
import { accounts } from './posting.js';
import { emptyWallet, type Wallet, toWallet, type WalletDocument } from './wallet.js';

/** The index of the postings of a tenant by time. */
export const OPEN_POSTINGS = { tenant_id: 1, at: 1, _id: 1 } as const;

/** The filter of the postings of a tenant that are in no closing. */
export const openPostings = (tenantId: string, closedDay: string | null) => ({
  tenant_id: tenantId,
  ...(closedDay !== null && { at: { $gte: endOfDay(closedDay) } }),
});

/** The accounts of a read of balances, as a filter: some by name, or those between two names. */
type AccountFilter = { $in: string[] } | { $gt: string; $lt: string };

/** The input of a read of balances: the accounts (all if left out) and the session, if it has a snapshot. */
type BalanceQuery = {
  tenantId: string;
  only?: AccountFilter;
  /** True if the accounts of all cards, which may be many, have one balance together, that of `CARD_ACCOUNTS`. */
  cardsTogether?: boolean;
  session?: ClientSession;
};

/** The beginning of the names of the accounts of cards. */
const CARD_ACCOUNTS = 'card:';

/** The accounts of cards with ids after `after`, up to `last`; up to the end without one. Ids have one length. */
export const cardAccountsBetween = (after: string, last: string | undefined): AccountFilter => ({
  // `;` is the character after `:`.
  $gt: after === '' ? CARD_ACCOUNTS : `${CARD_ACCOUNTS}${after};`,
  $lt: last === undefined ? 'card;' : `${CARD_ACCOUNTS}${last};`,
});

/** The key by which the balances of accounts are added up; an expression. */
const keyOf = (account: string, { cardsTogether = false }: BalanceQuery) => {
  const beginning = { $substrCP: [account, 0, CARD_ACCOUNTS.length] };
  return cardsTogether
    ? { $cond: [{ $eq: [beginning, CARD_ACCOUNTS] }, CARD_ACCOUNTS, account] }
    : account;
};

/** Balances of a tenant's accounts, and the part of them that is in no closing yet. */
export type Balances = {
  byAccount: Map<string, bigint>;
  /** The last closed day, null without one. */
  closedDay: string | null;
};

/**
 * The balances of a tenant: the last closing of each account, and the later postings. Both are read from indexes, so the cost
 * grows with the accounts and with the open days.
 */
export async function readBalances(db: Db, query: BalanceQuery): Promise<Balances> {
  const { tenantId, session } = query;
  const { days } = closingCollections(db);
  const options = { ...(session && { session }) };
  // The day is read first: a day that is closed meanwhile changes neither its closings nor what follows it.
  const last = await days.findOne({ tenant_id: tenantId }, { ...options, sort: { day: -1 } });
  const closedDay = last?.day ?? null;
  const byAccount = new Map<string, bigint>();
  if (closedDay !== null) {
    for (const { _id, sum } of await lastClosings(db, query, closedDay)) byAccount.set(_id, sum);
  }
  for await (const { _id, sum } of openSums(db, query, closedDay)) {
    byAccount.set(_id, (byAccount.get(_id) ?? 0n) + sum);
  }
  return { byAccount, closedDay };
}

/** The balances of these accounts at the end of a closed day; none before the first one. Accounts without a closing have none. */
export async function balancesAt(
  db: Db,
  { tenantId, closedDay }: { tenantId: string; closedDay: string | null },
  accounts: string[],
): Promise<Map<string, bigint>> {
  if (closedDay === null) return new Map();
  const found = await lastClosings(db, { tenantId, only: { $in: accounts } }, closedDay);
  return new Map(found.map(({ _id, sum }) => [_id, sum]));
}

/** The closing balance of each account on its last day up to this one. */
async function lastClosings(
  db: Db,
  query: BalanceQuery,
  upTo: string,
): Promise<{ _id: string; sum: bigint }[]> {
  const { tenantId, only, session } = query;
  const match = { tenant_id: tenantId, ...(only && { account: only }), day: { $lte: upTo } };
  return closingCollections(db)
    .closings.aggregate<{ _id: string; sum: bigint }>(
      [
        { $match: match },
        { $sort: { account: 1, day: -1 } },
        { $group: { _id: '$account', sum: { $first: '$closing_minor' } } },
        ...(query.cardsTogether
          ? [{ $group: { _id: keyOf('$_id', query), sum: { $sum: '$sum' } } }]
          : []),
      ],
      { allowDiskUse: true, ...(session && { session }) },
    )
    .toArray();
}

/** The sums of the postings after a day by account. */
function openSums(db: Db, query: BalanceQuery, closedDay: string | null) {
  const { tenantId, only, session } = query;
  const moved = only ? [{ $match: { 'legs.account': only } }] : [];
  return closingCollections(db).postings.aggregate<{ _id: string; sum: bigint }>(
    [
      { $match: openPostings(tenantId, closedDay) },
      // Before and after: most postings have none of the accounts, and the others have further legs.
      ...moved,
      { $unwind: '$legs' },
      ...moved,
      { $group: { _id: keyOf('$legs.account', query), sum: { $sum: '$legs.amount_minor' } } },
    ],
    { hint: OPEN_POSTINGS, allowDiskUse: true, ...(session && { session }) },
  );
}

/** The balances of a wallet: available, held, and the receivable that later credits pay. */
export async function readBalance({ db }: Database, tenantId: string) {
  const { available, held, receivable } = {
    available: accounts.available(tenantId),
    held: accounts.held(tenantId),
    receivable: accounts.receivable(tenantId),
  };
  const only = { $in: [available, held, receivable] };
  const { byAccount } = await readBalances(db, { tenantId, only });
  const of = (account: string) => byAccount.get(account) ?? 0n;
  return { availableMinor: of(available), heldMinor: of(held), receivableMinor: -of(receivable) };
}

/** A wallet outside of a commit. Commits may change it at any moment. */
export async function readWallet({ db }: Database, tenantId: string): Promise<Wallet> {
  const found = await db.collection<WalletDocument>('wallets').findOne({ _id: tenantId });
  return found ? toWallet(found) : emptyWallet(tenantId);
}
