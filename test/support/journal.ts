import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';

/** The comparison of one capability with the bank's journal. */
export type Comparison = {
  /** True if an entry belongs to a record of the capability. */
  knows: (entry: JournalEntry) => boolean;
  problems: string[];
  /** The expected balances of the clearing account and of fees. */
  clearingMinor: bigint;
  feesMinor: bigint;
};

/** Compares the records of one capability with the bank's journal. */
export type Compare = (database: Database, journal: readonly JournalEntry[]) => Promise<Comparison>;

/** Compares the effects at the bank with the status of a record. */
export function checkMoney(
  { id, status, amountMinor }: { id: string; status: string; amountMinor: bigint },
  journal: readonly JournalEntry[],
  [done, undone]: readonly [JournalEntry['kind'], JournalEntry['kind']],
): string[] {
  const effects = journal.filter(({ reference }) => reference === id);
  const moved = effects.filter(({ kind }) => kind === done);
  const back = effects.filter(({ kind }) => kind === undone);
  const problems: string[] = [];
  if (moved.length > 1) problems.push(`${id} was ${done} ${moved.length} times`);
  if (moved.some((entry) => BigInt(entry.amount_minor) !== amountMinor)) {
    problems.push(`${id} was ${done} with another amount`);
  }
  const net = moved.length - back.length;
  if (status === 'completed' && net !== 1) problems.push(`${id} is completed and not ${done}`);
  if (status === 'failed' && net !== 0) problems.push(`${id} is failed and ${done}`);
  return problems;
}
