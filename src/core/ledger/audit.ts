import type { ClientSession, Document } from 'mongodb';
import { withSnapshot, type Database } from '../../platform/database/client.js';
import { addTo, type RecordAudit } from './audit-checks.js';
import { ledgerCollections } from '../commit/store.js';

/** The result of the ledger audit. */
type AuditReport = {
  postings: number;
  /** The number of audited records of each kind. */
  counts: Record<string, number>;
  /** Balance of each account, the sum of its legs. All of them together are zero. */
  balances: Map<string, bigint>;
  /** The problems in plain words; empty if the ledger is correct. */
  problems: string[];
};

/**
 * Audits the whole ledger at one moment. Every posting balances. Wallets equal the sum of their postings. Held amounts
 * equal those of open records. Every record has the postings of its status and no others. Counts equal the number of
 * records.
 */
export async function auditLedger(
  database: Database,
  audits: readonly RecordAudit[],
): Promise<AuditReport> {
  return withSnapshot(database, async (db, session) => {
    const collections = ledgerCollections(db);
    const { balances, postings, unbalanced } = await readPostings(collections, session);
    const problems = [...unbalanced];
    const total = [...balances.values()].reduce((sum, balance) => sum + balance, 0n);
    if (total !== 0n) problems.push(`all accounts together hold ${total} instead of 0`);
    problems.push(...(await checkWallets(collections, balances, session)));
    const held = new Map<string, bigint>();
    const counts: Record<string, number> = {};
    for (const audit of audits) {
      const part = await audit({ db, collections, session, balances });
      Object.assign(counts, part.counts);
      problems.push(...part.problems);
      for (const [account, amountMinor] of part.held) addTo(held, account, amountMinor);
    }
    problems.push(...checkHeld(balances, held));
    return { postings, counts, balances, problems };
  });
}

/** Checks that every held amount, in wallets and on cards, has its record. */
function checkHeld(balances: Map<string, bigint>, held: Map<string, bigint>): string[] {
  const accounts = [...balances.keys()].filter((account) => account.endsWith(':held'));
  return [...new Set([...held.keys(), ...accounts])].flatMap((account) => {
    const [open, booked] = [held.get(account) ?? 0n, balances.get(account) ?? 0n];
    return open === booked ? [] : [`${account} is at ${booked}, open records hold ${open}`];
  });
}

type Collections = ReturnType<typeof ledgerCollections>;

async function readPostings({ postings }: Collections, session: ClientSession) {
  const unwound: Document[] = [{ $unwind: '$legs' }];
  const balances = new Map<string, bigint>();
  const sums = postings.aggregate<{ _id: string; sum: bigint }>(
    [...unwound, { $group: { _id: '$legs.account', sum: { $sum: '$legs.amount_minor' } } }],
    { session },
  );
  for await (const { _id, sum } of sums) balances.set(_id, sum);
  const unbalanced: string[] = [];
  const off = postings.aggregate<{ _id: string }>(
    [{ $match: { $expr: { $ne: [{ $sum: '$legs.amount_minor' }, 0] } } }, { $project: { _id: 1 } }],
    { session },
  );
  for await (const { _id } of off) unbalanced.push(`posting ${_id} does not balance`);
  const count = await postings.countDocuments({}, { session });
  return { balances, postings: count, unbalanced };
}

async function checkWallets(
  { wallets }: Collections,
  balances: Map<string, bigint>,
  session: ClientSession,
): Promise<string[]> {
  const problems: string[] = [];
  const known = new Set<string>();
  const compare = (what: string, stored: bigint, booked: bigint) => {
    if (stored !== booked)
      problems.push(`${what}: the wallet says ${stored}, its postings ${booked}`);
  };
  for await (const wallet of wallets.find({}, { session })) {
    const account = `wallet:${wallet._id}:available`;
    known.add(account);
    compare(account, wallet.available_minor, balances.get(account) ?? 0n);
    const owed = `receivable:${wallet._id}`;
    compare(owed, wallet.receivable_minor, -(balances.get(owed) ?? 0n));
  }
  for (const [account, balance] of balances) {
    if (account.startsWith('wallet:') && balance < 0n) problems.push(`${account} is at ${balance}`);
    if (/^wallet:.*:available$/.test(account) && !known.has(account))
      problems.push(`${account} has no wallet`);
  }
  return problems;
}
