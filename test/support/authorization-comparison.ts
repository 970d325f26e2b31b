import {
  isApproved,
  type CardAuthorization,
} from '../../src/capabilities/card-authorizations/record.js';
import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/** The changes of the amount taken by what happened at the issuer, without reversals. */
const TAKES: Partial<Record<JournalEntry['kind'], bigint>> = {
  cleared: 1n,
  clearing_corrected: 1n,
  card_refund_reversed: 1n,
  refunded_to_card: -1n,
};
const RELEVANT = new Set<JournalEntry['kind']>([
  'authorized',
  'declined',
  'cleared',
  'authorization_reversed',
  'authorization_expired',
  'refunded_to_card',
  'card_refund_reversed',
  'clearing_corrected',
]);

/** Compares authorizations with the approvals and outcomes at the issuer. */
export async function compareAuthorizations(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const all = await db.collection<CardAuthorization>('card_authorizations').find().toArray();
  const byToken = new Map(all.map((one) => [one.token, one]));
  const entriesOf = new Map<string, JournalEntry[]>();
  for (const entry of journal.filter(({ kind }) => RELEVANT.has(kind))) {
    entriesOf.set(entry.reference, [...(entriesOf.get(entry.reference) ?? []), entry]);
  }
  return {
    knows: ({ reference }) => byToken.has(reference),
    problems: [
      ...[...entriesOf].flatMap(([token, entries]) => compare(token, entries, byToken.get(token))),
      ...all
        .filter(({ token, cleared_minor }) => cleared_minor > 0n && !entriesOf.has(token))
        .map(({ token }) => `${token} has a clearing here, and is unknown at the issuer`),
    ],
    clearingMinor: 0n,
    feesMinor: 0n,
  };
}

/** The amount taken at the issuer after these entries. */
function takenAtIssuer(entries: readonly JournalEntry[]): bigint {
  let [heldMinor, takenMinor] = [0n, 0n];
  const holds = new Map<string | undefined, bigint>();
  for (const { kind, amount_minor, held_minor, final, message_id: id } of entries) {
    const amount = BigInt(amount_minor);
    if (kind === 'authorized') {
      holds.set(id, BigInt(held_minor ?? amount_minor));
      heldMinor += holds.get(id) ?? 0n;
    }
    // The network has withdrawn a request that was approved.
    if (kind === 'declined') {
      const withdrawn = holds.get(id) ?? 0n;
      heldMinor -= withdrawn < heldMinor ? withdrawn : heldMinor;
    }
    if (kind === 'cleared') {
      // The clearing of a financial message has its id, and ends its hold alone.
      const ended = holds.get(id) ?? (final ? heldMinor : amount);
      heldMinor = ended < heldMinor ? heldMinor - ended : 0n;
    }
    if (kind === 'authorization_expired') heldMinor = 0n;
    if (kind === 'authorization_reversed') {
      const fromHold = amount < heldMinor ? amount : heldMinor;
      heldMinor -= fromHold;
      const taken = takenMinor > 0n ? takenMinor : 0n;
      takenMinor -= amount - fromHold < taken ? amount - fromHold : taken;
    }
    takenMinor += (TAKES[kind] ?? 0n) * amount;
  }
  return takenMinor;
}

function compare(
  token: string,
  entries: readonly JournalEntry[],
  one: CardAuthorization | undefined,
): string[] {
  const declined = entries.filter(({ kind }) => kind === 'declined');
  if (declined.length === entries.length) {
    if (!one) return [];
    const taken = one.cleared_minor - one.refunded_minor;
    return [
      ...declined.flatMap(({ message_id: id }) =>
        id !== undefined && isApproved(one, id)
          ? [`${token} is declined at the issuer, we say approved`]
          : [],
      ),
      ...(taken === 0n ? [] : [`${token} is declined at the issuer, we booked ${taken}`]),
    ];
  }
  if (!one) return [`${token} is known at the issuer, and not here`];
  const takenMinor = takenAtIssuer(entries);
  const booked = one.cleared_minor - one.refunded_minor;
  const problems: string[] = [];
  if (booked !== takenMinor) {
    problems.push(`${token}: the issuer took ${takenMinor}, we booked ${booked}`);
  }
  return problems;
}
