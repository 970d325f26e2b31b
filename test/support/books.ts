import { audits } from '../../src/composition/capabilities.js';
import type { Database } from '../../src/platform/database/client.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import type { Transfer } from '../../src/capabilities/transfers/transfer.js';
import { compareAuthorizations } from './authorization-books.js';
import type { JournalEntry } from './bank.js';
import { compareCards } from './card-books.js';
import { compareCharges } from './charge-books.js';
import { compareRefunds } from './refund-books.js';
import { checkMoney, type Compare, type Comparison } from './journal.js';

/** Each capability that the bank moves money for, or has cards at. */
const COMPARISONS: readonly Compare[] = [
  compareTransfers,
  compareCards,
  compareAuthorizations,
  compareCharges,
  compareRefunds,
];

/**
 * What is wrong, in plain words: in our own books, and between them and what the bank really did. Empty when every
 * posting balances, every record is what the bank says it is, and nothing was done twice.
 */
export async function findProblems(
  database: Database,
  journal: readonly JournalEntry[],
): Promise<string[]> {
  const { problems, balances } = await auditLedger(database, audits);
  const compared = await Promise.all(COMPARISONS.map((compare) => compare(database, journal)));
  const strangers = journal.filter((entry) => !compared.some(({ knows }) => knows(entry)));
  const sum = (part: 'clearingMinor' | 'feesMinor') =>
    compared.reduce((total, one) => total + one[part], 0n);
  return [
    ...problems,
    ...checkSum('clearing', balances.get('clearing:sandbox-bank') ?? 0n, sum('clearingMinor')),
    ...checkSum('fees', balances.get('fees') ?? 0n, sum('feesMinor')),
    ...strangers.map(
      ({ reference, kind }) => `the bank has ${kind} ${reference}, which is not ours`,
    ),
    ...compared.flatMap((one) => one.problems),
  ];
}

const checkSum = (what: string, found: bigint, wanted: bigint): string[] =>
  found === wanted ? [] : [`${what} is at ${found}, what is completed makes ${wanted}`];

async function compareTransfers(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const transfers = await db.collection<Transfer>('transfers').find().toArray();
  const ids = new Set(transfers.map(({ _id }) => _id));
  const sum = (part: (transfer: Transfer) => bigint) =>
    transfers.filter((t) => t.status === 'completed').reduce((total, t) => total + part(t), 0n);
  return {
    knows: ({ reference }) => ids.has(reference),
    problems: transfers.flatMap((transfer) =>
      checkMoney(
        { id: transfer._id, status: transfer.status, amountMinor: transfer.amount_minor },
        journal,
        ['paid', 'reversed'],
      ),
    ),
    clearingMinor: sum((t) => t.amount_minor),
    feesMinor: sum((t) => t.fee_minor),
  };
}
