import type { Database } from '../../src/platform/database/client.js';
import type { Refund } from '../../src/capabilities/refunds/record.js';
import type { JournalEntry } from './bank.js';
import { checkMoney, type Comparison } from './journal.js';

/** Compares refunds with the effects at the network, whose entries carry our id. */
export async function compareRefunds(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const refunds = await db.collection<Refund>('refunds').find().toArray();
  const ids = new Set(refunds.map(({ _id }) => _id));
  // A payment that was returned from suspense has left clearing as it had come: its charge counts neither.
  const completed = refunds.filter(
    ({ status, made_by: by }) => status === 'completed' && by !== 'operator',
  );
  return {
    knows: ({ kind, reference }) =>
      (kind === 'refunded' || kind === 'refund_returned') &&
      (ids.has(reference) || reference.startsWith('desk-')),
    problems: refunds
      // A refund from the network's desk has no id of ours there.
      .filter(({ made_by: by }) => by !== 'provider')
      .flatMap(({ _id: id, status, amount_minor: amountMinor }) =>
        checkMoney({ id, status, amountMinor }, journal, ['refunded', 'refund_returned']),
      ),
    clearingMinor: completed.reduce((total, { amount_minor }) => total + amount_minor, 0n),
    feesMinor: 0n,
  };
}
