import type { Deposit } from '../../src/capabilities/deposits/record.js';
import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

const KINDS: ReadonlySet<JournalEntry['kind']> = new Set([
  'received',
  'deposit_reversed',
  'deposit_returned',
]);

/** Compares deposits with the effects at the bank, whose entries carry the bank's id. */
export async function compareDeposits(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const deposits = await db.collection<Deposit>('deposits').find().toArray();
  const booked = deposits.filter(({ state }) => state === 'credited' || state === 'suspended');
  return {
    // A deposit that nobody reports is found later, so the bank may have more than we.
    knows: ({ kind }) => KINDS.has(kind),
    problems: deposits.flatMap((deposit) => checkDeposit(deposit, journal)),
    clearingMinor: -booked.reduce((sum, { amount_minor: amount }) => sum + (amount ?? 0n), 0n),
    // Bursar pays the provider's fee of what has no owner, or had none when it went back.
    feesMinor: -deposits
      .filter(
        ({ fee_booked: isPaid, credited_at: credited, moved_to: moved }) =>
          isPaid && credited === null && moved === null,
      )
      .reduce((sum, { fee_minor: fee }) => sum + fee, 0n),
  };
}

function checkDeposit(deposit: Deposit, journal: readonly JournalEntry[]): string[] {
  const { _id: id, state, amount_minor: amountMinor } = deposit;
  const effects = journal.filter(({ reference }) => reference === deposit.reference);
  const count = (kind: JournalEntry['kind']) => effects.filter((e) => e.kind === kind).length;
  const problems: string[] = [];
  const has = count('received') - count('deposit_reversed') - count('deposit_returned');
  const isBooked = state === 'credited' || state === 'suspended';
  if (isBooked && has !== 1) problems.push(`${id} is ${state}, and the bank has it ${has} times`);
  if (state === 'returned' && count('deposit_returned') !== 1) {
    problems.push(`${id} is returned, and the bank returned it ${count('deposit_returned')} times`);
  }
  const told = effects.find(({ kind }) => kind === 'received');
  if (isBooked && told && BigInt(told.amount_minor) !== amountMinor) {
    problems.push(`${id} is of ${amountMinor}, and the bank has received ${told.amount_minor}`);
  }
  return problems;
}
