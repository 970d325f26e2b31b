import type { Database } from '../../src/platform/database/client.js';
import type { Refund } from '../../src/capabilities/refunds/refund.js';
import type { JournalEntry } from './bank.js';
import { checkMoney, type Comparison } from './journal.js';

/** Compares refunds with the effects at the network, whose entries carry our id. */
export async function compareRefunds(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const refunds = await db.collection<Refund>('refunds').find().toArray();
  const ids = new Set(refunds.map(({ _id }) => _id));
  const completed = refunds.filter(({ status }) => status === 'completed');
  return {
    knows: ({ kind, reference }) => kind === 'refunded' && ids.has(reference),
    problems: refunds.flatMap(({ _id: id, status, amount_minor: amountMinor }) =>
      // No effect of the network reverses a refund.
      checkMoney({ id, status, amountMinor }, journal, ['refunded', 'reversed']),
    ),
    clearingMinor: completed.reduce((total, { amount_minor }) => total + amount_minor, 0n),
    feesMinor: 0n,
  };
}
