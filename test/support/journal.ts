import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';

/** What a capability has to say of the bank's journal: which entries are its own, and what is wrong with them. */
export type Comparison = {
  /** Whether an entry is about a record of ours. */
  knows: (entry: JournalEntry) => boolean;
  problems: string[];
  /** What clearing and fees have to be at for it. */
  clearingMinor: bigint;
  feesMinor: bigint;
};

export type Compare = (database: Database, journal: readonly JournalEntry[]) => Promise<Comparison>;

/** What the bank must have done and taken back, by the state that we have told the tenant. */
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
  const standing = moved.length - back.length;
  if (status === 'completed' && standing !== 1) problems.push(`${id} is completed and not ${done}`);
  if (status === 'failed' && standing !== 0) problems.push(`${id} is failed and ${done}`);
  return problems;
}
