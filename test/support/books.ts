import type { Database } from '../../src/database/client.js';
import { auditLedger } from '../../src/ledger/audit.js';
import type { Transfer } from '../../src/transfers/transfer.js';
import type { JournalEntry } from './bank.js';

/**
 * What is wrong, in plain words: in our own books, and between them and what the bank really did. Empty when every
 * posting balances, every transfer is what the bank says it is, and nothing was paid twice.
 */
export async function findProblems(
  database: Database,
  journal: readonly JournalEntry[],
): Promise<string[]> {
  const { problems, balances } = await auditLedger(database);
  const transfers = await database.db.collection<Transfer>('transfers').find().toArray();
  const ids = new Set(transfers.map(({ _id }) => _id));
  const strangers = journal.filter(({ reference }) => !ids.has(reference));
  const sum = (part: (transfer: Transfer) => bigint) =>
    transfers.filter((t) => t.status === 'completed').reduce((total, t) => total + part(t), 0n);
  const booked = [
    compare(
      'clearing',
      balances.get('clearing:sandbox-bank') ?? 0n,
      sum((t) => t.amount_minor),
    ),
    compare(
      'fees',
      balances.get('fees') ?? 0n,
      sum((t) => t.fee_minor),
    ),
  ];
  return [
    ...problems,
    ...booked.flat(),
    ...strangers.map(
      ({ reference, kind }) => `the bank has ${kind} ${reference}, which is not ours`,
    ),
    ...transfers.flatMap((transfer) => compareWithBank(transfer, journal)),
  ];
}

const compare = (what: string, found: bigint, wanted: bigint): string[] =>
  found === wanted ? [] : [`${what} is at ${found}, completed transfers make ${wanted}`];

/** What the bank must have done, by the state that we have told the tenant. */
function compareWithBank(transfer: Transfer, journal: readonly JournalEntry[]): string[] {
  const { _id: id, status } = transfer;
  const effects = journal.filter(({ reference }) => reference === id);
  const paid = effects.filter(({ kind }) => kind === 'paid');
  const reversed = effects.length - paid.length;
  const problems: string[] = [];
  if (paid.length > 1) problems.push(`${id} was paid ${paid.length} times`);
  if (paid.some((entry) => BigInt(entry.amount_minor) !== transfer.amount_minor)) {
    problems.push(`${id} was paid with another amount`);
  }
  const standing = paid.length - reversed;
  if (status === 'completed' && standing !== 1) problems.push(`${id} is completed and not paid`);
  if (status === 'failed' && standing !== 0) problems.push(`${id} is failed and paid`);
  return problems;
}
