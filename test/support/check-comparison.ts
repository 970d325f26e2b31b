import type { Database } from '../../src/platform/database/client.js';
import {
  checkStatusOf,
  type IdentityCheck,
} from '../../src/capabilities/identity-checks/record.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/** Compares identity checks with those that the bank made. No money moves. */
export async function compareChecks(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const checks = await db.collection<IdentityCheck>('identity_checks').find().toArray();
  const ids = new Set(checks.map(({ _id }) => _id));
  const made = journal.filter(({ kind }) => kind === 'checked');
  return {
    knows: ({ kind, reference }) => kind === 'checked' && ids.has(reference),
    problems: checks.flatMap((check) =>
      problemsOf(
        check,
        made.filter(({ reference }) => reference === check._id),
      ),
    ),
    clearingMinor: 0n,
    feesMinor: 0n,
  };
}

function problemsOf(check: IdentityCheck, made: readonly JournalEntry[]): string[] {
  const { _id: id } = check;
  const status = checkStatusOf(check);
  if (made.length > 1) return [`the bank has made ${id} ${made.length} times`];
  // An operator may fail a check without the bank's word.
  if (isOpen(check) || check.failure?.code === 'operator') return [];
  const result = made[0]?.result ?? 'nothing';
  return result === status ? [] : [`${id} is ${status}, and the bank says ${result}`];
}
