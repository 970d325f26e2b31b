import type { CardDispute } from '../../src/capabilities/card-disputes/record.js';
import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/** The amount that the issuer has given of one dispute after these entries. */
function givenAtIssuer(entries: readonly JournalEntry[]): bigint {
  let given = 0n;
  for (const { kind, amount_minor: amount } of entries) {
    if (kind === 'card_dispute_credited') given += BigInt(amount);
    if (kind === 'card_dispute_credit_reversed') given -= BigInt(amount);
    if (kind === 'card_dispute_won') given = BigInt(amount);
    if (kind === 'card_dispute_lost' || kind === 'card_dispute_withdrawn') given = 0n;
    if (given < 0n) given = 0n;
  }
  return given;
}

const STATUS: Partial<Record<JournalEntry['kind'], CardDispute['status']>> = {
  card_disputed: 'open',
  card_dispute_refused: 'failed',
  card_dispute_won: 'won',
  card_dispute_lost: 'lost',
  card_dispute_withdrawn: 'cancelled',
};

/** Compares disputes of card payments with those at the issuer: each is there once, with this state and this credit. */
export async function compareCardDisputes(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const disputes = await db.collection<CardDispute>('card_disputes').find().toArray();
  const byOperation = new Map(disputes.map((one) => [one.operation_id, one]));
  return {
    knows: ({ reference }) => byOperation.has(reference),
    problems: disputes.flatMap(({ _id: id, status, credited_minor: credited, ...dispute }) => {
      const entries = journal.filter(({ reference }) => reference === dispute.operation_id);
      const accepted = entries.filter(({ kind }) => kind === 'card_disputed').length;
      const last = entries.findLast(({ kind }) => STATUS[kind] !== undefined);
      const unknown = status === 'pending' ? 'pending' : 'failed';
      const there = last ? STATUS[last.kind] : unknown;
      const given = givenAtIssuer(entries);
      return [
        ...(accepted > 1 ? [`${id} was submitted ${accepted} times`] : []),
        ...(there === status ? [] : [`${id} is ${status}, at the issuer ${there}`]),
        ...(given === credited ? [] : [`${id} was credited ${credited}, at the issuer ${given}`]),
      ];
    }),
    clearingMinor: 0n,
    feesMinor: 0n,
  };
}
