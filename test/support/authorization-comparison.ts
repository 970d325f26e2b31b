import {
  isApproved,
  type CardAuthorization,
} from '../../src/capabilities/card-authorizations/card-authorization.js';
import type { Database } from '../../src/platform/database/client.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/** The required status of an authorization, by the last effect at the issuer. */
const STATUS: Partial<Record<JournalEntry['kind'], CardAuthorization['status']>> = {
  authorized: 'approved',
  cleared: 'cleared',
  authorization_reversed: 'reversed',
  authorization_expired: 'expired',
};

/** Compares authorizations with the approvals and clearings at the issuer. */
export async function compareAuthorizations(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const all = await db.collection<CardAuthorization>('card_authorizations').find().toArray();
  const byToken = new Map(all.map((one) => [one.token, one]));
  // The journal is in order of time, so a later entry replaces an earlier one.
  const last = new Map(journal.map((entry) => [entry.reference, entry]));
  return {
    knows: ({ reference }) => byToken.has(reference),
    problems: [
      ...[...last.values()].flatMap((entry) => compare(entry, byToken.get(entry.reference))),
      ...all
        .filter(({ token, cleared_minor }) => cleared_minor > 0n && !last.has(token))
        .map(({ token }) => `${token} has a clearing here, and is unknown at the issuer`),
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
  // A hold may expire before the issuer reports an outcome.
  const status = one?.status === 'expired' && wanted === 'approved' ? wanted : one?.status;
  if (status !== wanted) return [`${token} is ${kind} at the issuer, and here ${status}`];
  const taken = kind === 'cleared' ? BigInt(minor) : 0n;
  return one?.cleared_minor === taken
    ? []
    : [`${token}: the issuer took ${taken}, we booked ${one?.cleared_minor}`];
}
