import type { Db } from 'mongodb';
import {
  movementsOf,
  payerProblems,
  type Movement,
  type PaidAuthorization,
} from '../../src/capabilities/card-authorizations/audit.js';
import type {
  AuthorizationFact,
  FactKind,
} from '../../src/capabilities/card-authorizations/facts.js';
import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import type { Tolerance } from '../../src/capabilities/card-authorizations/rules.js';
import type { Card } from '../../src/capabilities/cards/record.js';

type StoredPosting = { _id: string; legs: { account: string; amount_minor: bigint }[] };

/** A card payment with the postings of its facts. */
export type BookedAuthorization = {
  one: PaidAuthorization & Pick<CardAuthorization, 'timeline'>;
  postings: readonly StoredPosting[];
  funding: Card['funding'];
  tolerance: Tolerance;
};

/** The order of facts with the same time. */
const KINDS: readonly FactKind[] = [
  'approved',
  'declined',
  'cleared',
  'reversed',
  'expired',
  'refunded',
  'refund_reversed',
  'corrected',
  'dispute_credited',
  'dispute_debited',
];

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const positive = (minor: bigint) => (minor > 0n ? minor : 0n);

/**
 * Compares the postings of a card payment with its facts and its payers. The amounts are a derivation of its own, simpler than that
 * of the service: payments with voided approvals, approvals in our place or financial messages are left out of it. The payers are
 * compared as in the audit of the ledger, for all payments.
 */
export function bookProblems({ one, postings, funding, tolerance }: BookedAuthorization): string[] {
  const { facts } = one;
  const amounts = movementsOf(one, postings).flatMap(({ posting, moved }, i) => {
    const known = facts.slice(0, i + 1);
    return known.every(isPlain) ? wrongAmounts({ posting, known, moved }) : [];
  });
  const unseen = facts.every(isPlain) ? unseenOverClearing(one, tolerance) : [];
  return [...amounts, ...unseen, ...payerProblems(one, postings, funding)];
}

/** True for a fact that means the same whatever other facts there are. */
function isPlain(fact: AuthorizationFact): boolean {
  if (fact.kind === 'approved')
    return fact.stand_in === null && fact.issuer_hold_minor === undefined;
  return fact.kind !== 'declined' && (fact.kind !== 'cleared' || fact.of === undefined);
}

type Sums = { held: bigint; taken: bigint; refunded: bigint; credited: bigint; approved: bigint };

const inOrder = (facts: readonly AuthorizationFact[]): AuthorizationFact[] =>
  facts.toSorted(
    (a, b) =>
      a.at.getTime() - b.at.getTime() ||
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      (a.key < b.key ? -1 : 1),
  );

/** The sums after plain facts, one after the other in the order in which they happened. */
function sumsOf(facts: readonly AuthorizationFact[]): Sums {
  const sums: Sums = { held: 0n, taken: 0n, refunded: 0n, credited: 0n, approved: 0n };
  for (const fact of inOrder(facts)) addTo(sums, fact);
  return sums;
}

function addTo(sums: Sums, fact: AuthorizationFact): void {
  const { amount_minor: minor } = fact;
  switch (fact.kind) {
    case 'approved':
      sums.held += fact.held_minor;
      sums.approved += minor;
      break;
    case 'cleared':
      sums.taken += minor;
      sums.held = fact.final ? 0n : positive(sums.held - minor);
      break;
    case 'reversed':
      reverse(sums, fact.whole ? null : minor);
      break;
    case 'expired':
      sums.held = 0n;
      break;
    case 'refunded':
      sums.refunded += minor;
      break;
    case 'refund_reversed':
      sums.refunded = positive(sums.refunded - minor);
      break;
    case 'corrected':
      sums.taken = positive(sums.taken + minor);
      break;
    case 'dispute_credited':
      sums.credited += minor;
      break;
    case 'dispute_debited':
      sums.credited -= minor;
      break;
    case 'declined':
  }
}

/** Returns an amount, first of the hold, or all of it (null). What refunds have returned is not returned again. */
function reverse(sums: Sums, minor: bigint | null): void {
  const takenMinor = positive(sums.taken - sums.refunded);
  const amount = minor ?? sums.held + takenMinor;
  const fromHold = least(sums.held, amount);
  sums.held -= fromHold;
  sums.taken -= least(amount - fromHold, takenMinor);
  sums.approved = minor === null ? 0n : positive(sums.approved - minor);
}

/** The problems of the amounts of one posting. */
function wrongAmounts({
  posting,
  known,
  moved,
}: {
  posting: string;
  known: readonly AuthorizationFact[];
  moved: Movement;
}): string[] {
  const [before, after] = [sumsOf(known.slice(0, -1)), sumsOf(known)];
  const held = after.held - before.held;
  const taken = netOf(after) - netOf(before);
  const heldMinor = moved.cardHeld + moved.walletHeld;
  if (heldMinor === held && moved.network === taken) return [];
  return [
    `${posting}: by its fact ${held} is held and ${taken} taken, by its posting ${heldMinor} and ${moved.network}`,
  ];
}

/** A clearing that must have called an operator when it happened, whatever was reported first. */
function unseenOverClearing(
  { _id: id, timeline, facts }: BookedAuthorization['one'],
  tolerance: Tolerance,
): string[] {
  if (timeline.some(({ type }) => type === 'attention_raised')) return [];
  const sums: Sums = { held: 0n, taken: 0n, refunded: 0n, credited: 0n, approved: 0n };
  return inOrder(facts).flatMap((fact) => {
    addTo(sums, fact);
    return fact.kind === 'cleared' && fact.amount_minor > 0n && isBeyond(sums, tolerance)
      ? [`${id} took ${sums.taken} of ${sums.approved} approved, and calls no operator`]
      : [];
  });
}

const netOf = ({ taken, refunded, credited }: Sums) => taken - refunded - credited;

/** True if more was taken than was approved, by more than is tolerated. */
function isBeyond({ taken, approved }: Sums, tolerance: Tolerance): boolean {
  const share = (approved * BigInt(100 + tolerance.overClearingPercent)) / 100n;
  return taken > share || taken > approved + tolerance.overClearingMinor;
}

/** Checks the postings of all card payments. */
export async function checkAuthorizationBooks(db: Db, tolerance: Tolerance): Promise<string[]> {
  const cards = await db.collection<Card>('cards').find().toArray();
  const fundings = new Map(cards.map(({ _id, funding }) => [_id, funding]));
  const postings = new Map<string, StoredPosting[]>();
  const ofPayments = db.collection<StoredPosting>('postings').find({ _id: { $regex: '^aut_' } });
  for await (const posting of ofPayments) {
    const id = posting._id.slice(0, posting._id.indexOf('/'));
    postings.set(id, [...(postings.get(id) ?? []), posting]);
  }
  const payments = await db.collection<CardAuthorization>('card_authorizations').find().toArray();
  return payments.flatMap((one) =>
    bookProblems({
      one,
      postings: postings.get(one._id) ?? [],
      funding: fundings.get(one.card_id) ?? 'prepaid',
      tolerance,
    }),
  );
}
