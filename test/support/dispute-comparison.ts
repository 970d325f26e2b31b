import type { Database } from '../../src/platform/database/client.js';
import { disputeId, type Dispute } from '../../src/capabilities/disputes/record.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

const KINDS: ReadonlySet<string> = new Set(['disputed', 'dispute_won', 'dispute_lost']);

/** Compares disputes with those of the network's journal: each is booked once, with its amount and its latest state. */
export async function compareDisputes(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const records = await db.collection<Dispute>('disputes').find().toArray();
  const byId = new Map(records.map((record) => [record._id, record]));
  const told = journal.filter(({ kind }) => KINDS.has(kind));
  const idOf = ({ dispute }: JournalEntry) => disputeId('sandbox-bank', String(dispute));
  const opened = told.filter(({ kind }) => kind === 'disputed');
  const problems = opened.flatMap((entry) => {
    const record = byId.get(idOf(entry));
    if (!record) return [`the dispute ${entry.dispute} is not booked`];
    const last = told.findLast(({ dispute }) => dispute === entry.dispute)?.kind;
    const status = { dispute_won: 'won', dispute_lost: 'lost' }[String(last)] ?? 'open';
    return [
      ...(record.amount_minor === BigInt(entry.amount_minor)
        ? []
        : [`${record._id} is booked with another amount`]),
      ...(record.status === status ? [] : [`${record._id} is ${record.status} and not ${status}`]),
    ];
  });
  if (records.length > opened.length) problems.push('a dispute is booked that nobody opened');
  const taken = records.filter(({ status, funds }) => status !== 'won' && funds === 'taken');
  return {
    knows: ({ kind }) => KINDS.has(kind),
    problems,
    clearingMinor: taken.reduce((total, { amount_minor: minor }) => total + minor, 0n),
    feesMinor: 0n,
  };
}
