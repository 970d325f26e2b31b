import type { VirtualAccount } from '../../src/capabilities/virtual-accounts/record.js';
import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/** Compares virtual accounts with the effects at the bank, whose entries carry our id. */
export async function compareAccounts(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const accounts = await db.collection<VirtualAccount>('virtual_accounts').find().toArray();
  const ids = new Set(accounts.map(({ _id }) => _id));
  return {
    knows: ({ kind, reference }) => (kind === 'opened' || kind === 'closed') && ids.has(reference),
    problems: accounts.flatMap(({ _id: id, state }) => {
      const count = (kind: JournalEntry['kind']) =>
        journal.filter((entry) => entry.reference === id && entry.kind === kind).length;
      const [opened, closed] = [count('opened'), count('closed')];
      const problems: string[] = [];
      if (opened > 1) problems.push(`${id} was opened ${opened} times`);
      if (closed > 1) problems.push(`${id} was closed ${closed} times`);
      if (state === 'active' && opened - closed !== 1)
        problems.push(`${id} is active and not open`);
      if (state === 'closed' && closed !== 1) problems.push(`${id} is closed and still open`);
      return problems;
    }),
    clearingMinor: 0n,
    feesMinor: 0n,
  };
}
