import type { Database } from '../../src/platform/database/client.js';
import { paidMinorOf, readAttempt, type Charge } from '../../src/capabilities/charges/charge.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/** Compares charges with the effects at the network: a charge is paid at most once, over all its attempts. */
export async function compareCharges(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const charges = await db.collection<Charge>('charges').find().toArray();
  const ids = new Set(charges.map(({ _id }) => _id));
  const completed = charges.filter(({ status }) => status === 'completed');
  return {
    knows: ({ kind, reference }) => kind === 'charged' && ids.has(readAttempt(reference)?.id ?? ''),
    problems: charges.flatMap((charge) => checkCharge(charge, journal)),
    clearingMinor: -[
      ...completed.map((charge) => paidMinorOf(charge)),
      ...charges.flatMap(({ suspended }) => suspended.map((payment) => payment.amount_minor)),
    ].reduce((total, minor) => total + minor, 0n),
    feesMinor: 0n,
  };
}

function checkCharge(charge: Charge, journal: readonly JournalEntry[]): string[] {
  const { _id: id, status, attempt, attention } = charge;
  const charged = journal.filter(
    ({ kind, reference }) => kind === 'charged' && readAttempt(reference)?.id === id,
  );
  const [paid] = charged;
  const problems: string[] = [];
  if (charged.length > 1) problems.push(`${id} was charged ${charged.length} times`);
  if (status === 'completed' && !paid) problems.push(`${id} is completed and not paid`);
  if (status === 'completed' && paid && paid.reference !== `${id}-${attempt}`) {
    problems.push(`${id} was paid by another attempt than it says`);
  }
  if (status === 'completed' && paid && BigInt(paid.amount_minor) !== paidMinorOf(charge)) {
    problems.push(`${id} is completed and was paid with another amount`);
  }
  // A payment that differs from the request waits for an operator, or is returned.
  const isReturned =
    paid && charge.returned_attempts.includes(Number(readAttempt(paid.reference)?.attempt));
  if (status === 'failed' && paid && attention === null && !isReturned) {
    problems.push(`${id} is failed and paid`);
  }
  return problems;
}
