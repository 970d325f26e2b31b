import type { Database } from '../../src/platform/database/client.js';
import { readAttempt, type Charge } from '../../src/capabilities/charges/record.js';
import type { Refund } from '../../src/capabilities/refunds/record.js';
import type { JournalEntry } from './bank.js';
import { checkMoney, type Comparison } from './journal.js';

/**
 * Compares refunds with the effects at the network, whose entries carry our id. Each refund from the network's own desk is a refund
 * here, or has returned a payment from suspense.
 */
export async function compareRefunds(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const refunds = await db.collection<Refund>('refunds').find().toArray();
  const charges = await db.collection<Charge>('charges').find().toArray();
  const ids = new Set(refunds.map(({ _id }) => _id));
  const atDesk = journal.filter(
    ({ kind, reference }) => kind === 'refunded' && isOfDesk(reference),
  );
  // A payment that was returned from suspense has left clearing as it had come: its charge counts neither.
  const completed = refunds.filter(
    ({ status, made_by: by }) => status === 'completed' && by !== 'operator',
  );
  return {
    knows: ({ kind, reference }) =>
      (kind === 'refunded' || kind === 'refund_returned') &&
      (ids.has(reference) || isOfDesk(reference)),
    problems: [
      ...refunds
        // A refund from the network's desk has no id of ours there.
        .filter(({ made_by: by }) => by !== 'provider')
        .flatMap(({ _id: id, status, amount_minor: amountMinor }) =>
          checkMoney({ id, status, amountMinor }, journal, ['refunded', 'refund_returned']),
        ),
      ...charges.flatMap((charge) => checkDesk(charge, refunds, atDesk)),
    ],
    clearingMinor: completed.reduce((total, { amount_minor }) => total + amount_minor, 0n),
    feesMinor: 0n,
  };
}

/** True for the note of a refund from the network's desk. */
const isOfDesk = (note: string): boolean => note.startsWith('desk-');

/** The refunds of a charge that were made at the network's desk, against those that are booked. */
function checkDesk(
  { _id: id, returned_refunds: returned }: Charge,
  refunds: readonly Refund[],
  atDesk: readonly JournalEntry[],
): string[] {
  const made = atDesk.filter(({ charge = '' }) => readAttempt(charge)?.id === id);
  const ofCharge = refunds.filter(({ charge_id: of }) => of === id);
  const recorded = ofCharge.filter(({ made_by: by }) => by === 'provider');
  const known = new Set(ofCharge.map(({ _id }) => _id));
  const fromSuspense = returned.filter((refund) => !known.has(refund));
  const booked = recorded.length + fromSuspense.length;
  const sum = (amounts: readonly (bigint | number)[]) =>
    amounts.reduce<bigint>((total, minor) => total + BigInt(minor), 0n);
  const isOther =
    fromSuspense.length === 0 &&
    sum(made.map((entry) => entry.amount_minor)) !==
      sum(recorded.map((refund) => refund.amount_minor));
  if (made.length === booked && !isOther) return [];
  return [`${id} was refunded ${made.length} times at the desk, and ${booked} are booked`];
}
