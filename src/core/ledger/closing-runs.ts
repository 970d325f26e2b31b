import type { Db } from 'mongodb';
import type { LedgerClosingCounts } from './workflow-contract.js';

/** The last run that closed all days that were due. One document, whatever process made the run. */
export type ClosingRunDocument = LedgerClosingCounts & { _id: 'last'; ended_at: Date };

const runsOf = (db: Db) => db.collection<ClosingRunDocument>('ledger_closing_runs');

/** Notes the end of a run. A later one replaces it. */
export async function noteClosingRun(db: Db, counts: LedgerClosingCounts): Promise<void> {
  const { closed, refused } = counts;
  const run = { closed, refused, ended_at: new Date() };
  await runsOf(db).updateOne({ _id: 'last' }, { $set: run }, { upsert: true });
}

/** The last run; null before the first. */
export async function lastClosingRun(
  db: Db,
): Promise<{ endedAt: Date; closed: number; refused: number } | null> {
  const run = await runsOf(db).findOne({ _id: 'last' });
  return run && { endedAt: run.ended_at, closed: run.closed, refused: run.refused };
}
