import type { ClientSession, Db } from 'mongodb';
import { ledgerCollections } from '../commit/store.js';
import { addTo, type RecordAudit, type TenantBooks } from './audit-checks.js';
import { OPEN_POSTINGS, openPostings, readBalances } from './balance.js';
import { accounts } from './posting.js';

type TenantResult = {
  balances: ReadonlyMap<string, bigint>;
  /** The number of postings that are in no closing. */
  openPostings: number;
  problems: string[];
};

/**
 * Audits a tenant at one moment, that of the session's snapshot. The postings after its last closing balance, its accounts
 * sum to zero, its wallet equals its accounts, and its held amount that of its open records. Cards are compared portion by
 * portion. Reads the open days only, so it ends long before MongoDB gives up the snapshot.
 */
export async function auditTenant({
  db,
  session,
  tenantId,
  audits,
}: {
  db: Db;
  session: ClientSession;
  tenantId: string;
  audits: readonly RecordAudit[];
}): Promise<TenantResult> {
  const collections = ledgerCollections(db);
  const query = { tenantId, session, cardsTogether: true };
  const { byAccount: balances, closedDay } = await readBalances(db, query);
  const open = openPostings(tenantId, closedDay);
  const problems: string[] = [];
  const unbalanced = collections.postings.aggregate<{ _id: string }>(
    [
      { $match: { ...open, $expr: { $ne: [{ $sum: '$legs.amount_minor' }, 0] } } },
      { $project: { _id: 1 } },
    ],
    { session, hint: OPEN_POSTINGS },
  );
  for await (const { _id } of unbalanced) problems.push(`posting ${_id} does not balance`);
  const total = [...balances.values()].reduce((sum, balance) => sum + balance, 0n);
  if (total !== 0n)
    problems.push(`the accounts of ${tenantId} together hold ${total} instead of 0`);
  const books = { db, session, collections, tenantId, balances };
  problems.push(...(await checkWallet(books)));
  const held = new Map<string, bigint>();
  for (const audit of audits) {
    const part = await audit.tenant?.(books);
    if (!part) continue;
    problems.push(...part.problems);
    for (const [account, amountMinor] of part.held) addTo(held, account, amountMinor);
  }
  problems.push(...checkHeld(balances, held));
  const count = await collections.postings.countDocuments(open, { session, hint: OPEN_POSTINGS });
  return { balances, openPostings: count, problems };
}

/** Checks that every held amount has its record. */
export function checkHeld(
  balances: ReadonlyMap<string, bigint>,
  held: ReadonlyMap<string, bigint>,
): string[] {
  const booked = [...balances.keys()].filter((account) => account.endsWith(':held'));
  return [...new Set([...held.keys(), ...booked])].flatMap((account) => {
    const [open, balance] = [held.get(account) ?? 0n, balances.get(account) ?? 0n];
    return open === balance ? [] : [`${account} is at ${balance}, open records hold ${open}`];
  });
}

async function checkWallet(books: TenantBooks): Promise<string[]> {
  const { collections, session, tenantId, balances } = books;
  const wallet = await collections.wallets.findOne({ _id: tenantId }, { session });
  const problems: string[] = [];
  const compare = (what: string, stored: bigint, booked: bigint) => {
    if (stored !== booked)
      problems.push(`${what}: the wallet says ${stored}, its postings ${booked}`);
  };
  const [available, owed] = [accounts.available(tenantId), accounts.receivable(tenantId)];
  if (wallet) {
    compare(available, wallet.available_minor, balances.get(available) ?? 0n);
    compare(owed, wallet.receivable_minor, -(balances.get(owed) ?? 0n));
  } else if (balances.has(available)) problems.push(`${available} has no wallet`);
  for (const [account, balance] of balances) {
    if (!account.startsWith('wallet:')) continue;
    if (balance < 0n) problems.push(`${account} is at ${balance}`);
    if (account !== available && account !== accounts.held(tenantId)) {
      problems.push(`${account} is moved by postings of ${tenantId}`);
    }
  }
  return problems;
}
