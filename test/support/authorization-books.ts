import {
  isApproved,
  type CardAuthorization,
} from '../../src/capabilities/card-authorizations/card-authorization.js';
import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/** What we must have of a payment, by the last thing that the issuer did with it. */
const STATUS: Partial<Record<JournalEntry['kind'], CardAuthorization['status']>> = {
  authorized: 'approved',
  cleared: 'cleared',
  authorization_reversed: 'reversed',
  authorization_expired: 'expired',
};

/** What the issuer approved and took, against what we hold and have booked. */
export async function compareAuthorizations(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const all = await db.collection<CardAuthorization>('card_authorizations').find().toArray();
  const byToken = new Map(all.map((one) => [one.token, one]));
  // In the order in which it happened: what comes later replaces what was before.
  const last = new Map(journal.map((entry) => [entry.reference, entry]));
  return {
    knows: ({ reference }) => byToken.has(reference),
    problems: [
      ...[...last.values()].flatMap((entry) => compare(entry, byToken.get(entry.reference))),
      ...all
        .filter(({ token, cleared_minor }) => cleared_minor > 0n && !last.has(token))
        .map(({ token }) => `${token} is booked here, and the issuer has never heard of it`),
    ],
    clearingMinor: 0n,
    feesMinor: 0n,
  };
}

function compare(
  { kind, reference: token, amount_minor: minor }: JournalEntry,
  one: CardAuthorization | undefined,
): string[] {
  if (kind === 'declined') {
    return one && isApproved(one) ? [`${token} is declined at the issuer, we say approved`] : [];
  }
  const wanted = STATUS[kind];
  if (!wanted) return [];
  // A hold may end by itself before the issuer says anything.
  const mine = one?.status === 'expired' && wanted === 'approved' ? wanted : one?.status;
  if (mine !== wanted) return [`${token} is ${kind} at the issuer, and here ${mine}`];
  const taken = kind === 'cleared' ? BigInt(minor) : 0n;
  return one?.cleared_minor === taken
    ? []
    : [`${token}: the issuer took ${taken}, we booked ${one?.cleared_minor}`];
}
