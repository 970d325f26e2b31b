import type { Db } from 'mongodb';
import type {
  AuthorizationFact,
  FactKind,
} from '../../src/capabilities/card-authorizations/facts.js';
import type { Payment } from '../../src/capabilities/card-authorizations/postings.js';
import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import type { Tolerance } from '../../src/capabilities/card-authorizations/rules.js';
import type { Card } from '../../src/capabilities/cards/record.js';
import { accounts } from '../../src/core/ledger/posting.js';

type StoredPosting = { _id: string; legs: { account: string; amount_minor: bigint }[] };

/** A card payment with the postings of its facts. */
export type BookedAuthorization = {
  one: Pick<
    CardAuthorization,
    '_id' | 'tenant_id' | 'card_id' | 'provider' | 'facts' | 'payments' | 'timeline'
  >;
  postings: readonly StoredPosting[];
  funding: Card['funding'];
  tolerance: Tolerance;
};

/** The names of the postings of each kind of fact, in the order of facts with the same time. */
const STEPS: Record<FactKind, string> = {
  approved: 'hold',
  declined: 'release',
  cleared: 'clear',
  reversed: 'reversal',
  expired: 'release',
  refunded: 'refund',
  refund_reversed: 'refund-reversal',
  corrected: 'correction',
  dispute_credited: 'dispute-credit',
  dispute_debited: 'dispute-debit',
};
const KINDS = Object.keys(STEPS);

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const positive = (minor: bigint) => (minor > 0n ? minor : 0n);

/**
 * Compares the postings of a card payment with its facts and its payers. It is a derivation of its own, simpler than that of the
 * service: the amounts of payments with voided approvals, approvals in our place or financial messages are left out of it, and
 * whether the card could have paid more. Who gets money back is derived for all payments.
 */
export function bookProblems({ one, postings, funding, tolerance }: BookedAuthorization): string[] {
  const { _id: id, facts } = one;
  const left = new Map(postings.map((each) => [each._id, movementOf(one, each)]));
  const counts = new Map<string, number>();
  const problems: string[] = [];
  let payers: Payers = { card: 0n, wallet: 0n, paid: [], problem: null };
  for (const [i, fact] of facts.entries()) {
    const name = STEPS[fact.kind];
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const posting = `${id}/${name}${count === 1 ? '' : `-${count}`}`;
    const moved = left.get(posting) ?? NOTHING;
    left.delete(posting);
    const known = facts.slice(0, i + 1);
    if (known.every(isPlain))
      problems.push(...wrongAmounts({ posting, known, moved, tolerance }, one));
    payers = payersAfter(payers, moved, funding === 'jit' ? 'wallet' : 'card');
    if (payers.problem !== null) return [...problems, `${posting}: ${payers.problem}`];
  }
  problems.push(...[...left.keys()].map((posting) => `${posting} belongs to no fact`));
  const said = textOf(one.payments);
  const booked = textOf(payers.paid);
  if (said !== booked) problems.push(`${id} was paid by ${said}, by its postings by ${booked}`);
  return problems;
}

/** The movement of a posting on each account that takes part. */
type Movement = Record<
  'cardHeld' | 'walletHeld' | 'card' | 'wallet' | 'receivable' | 'network',
  bigint
>;
const NOTHING: Movement = {
  cardHeld: 0n,
  walletHeld: 0n,
  card: 0n,
  wallet: 0n,
  receivable: 0n,
  network: 0n,
};

function movementOf(
  { tenant_id: tenant, card_id: card, provider }: BookedAuthorization['one'],
  { legs }: StoredPosting,
): Movement {
  const on = (account: string) =>
    legs.reduce((sum, leg) => (leg.account === account ? sum + leg.amount_minor : sum), 0n);
  return {
    cardHeld: on(accounts.cardHeld(card)),
    walletHeld: on(accounts.held(tenant)),
    card: on(accounts.cardAvailable(card)),
    wallet: on(accounts.available(tenant)),
    receivable: on(accounts.receivable(tenant)),
    network: on(accounts.network(provider)),
  };
}

/** True for a fact that means the same whatever other facts there are. */
function isPlain(fact: AuthorizationFact): boolean {
  if (fact.kind === 'approved')
    return fact.stand_in === null && fact.issuer_hold_minor === undefined;
  return fact.kind !== 'declined' && (fact.kind !== 'cleared' || fact.of === undefined);
}

type Sums = { held: bigint; taken: bigint; refunded: bigint; credited: bigint; approved: bigint };

/** The sums after plain facts, one after the other in the order in which they happened. */
function sumsOf(facts: readonly AuthorizationFact[]): Sums {
  const sums: Sums = { held: 0n, taken: 0n, refunded: 0n, credited: 0n, approved: 0n };
  const inOrder = facts.toSorted(
    (a, b) =>
      a.at.getTime() - b.at.getTime() ||
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      (a.key < b.key ? -1 : 1),
  );
  for (const fact of inOrder) addTo(sums, fact);
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

/** The problems of the amounts of one posting, and of a clearing that must call an operator. */
function wrongAmounts(
  given: { posting: string; known: readonly AuthorizationFact[]; moved: Movement } & Pick<
    BookedAuthorization,
    'tolerance'
  >,
  { _id: id, timeline }: BookedAuthorization['one'],
): string[] {
  const { posting, known, moved, tolerance } = given;
  const [before, after] = [sumsOf(known.slice(0, -1)), sumsOf(known)];
  const held = after.held - before.held;
  const taken = netOf(after) - netOf(before);
  const heldMinor = moved.cardHeld + moved.walletHeld;
  const problems: string[] = [];
  if (heldMinor !== held || moved.network !== taken) {
    problems.push(
      `${posting}: by its fact ${held} is held and ${taken} taken, by its posting ${heldMinor} and ${moved.network}`,
    );
  }
  const isCalled = timeline.some(({ type }) => type === 'attention_raised');
  const isClearing = known.at(-1)?.kind === 'cleared' && taken > 0n;
  if (isClearing && isBeyond(after, tolerance) && !isCalled) {
    problems.push(`${id} took ${after.taken} of ${after.approved} approved, and calls no operator`);
  }
  return problems;
}

const netOf = ({ taken, refunded, credited }: Sums) => taken - refunded - credited;

/** True if more was taken than was approved, by more than is tolerated. */
function isBeyond({ taken, approved }: Sums, tolerance: Tolerance): boolean {
  const share = (approved * BigInt(100 + tolerance.overClearingPercent)) / 100n;
  return taken > share || taken > approved + tolerance.overClearingMinor;
}

/** The holds after a posting, those who have paid, in the order of payment, and what is wrong with the posting. */
type Payers = { card: bigint; wallet: bigint; paid: Payment[]; problem: string | null };

/**
 * The payers after a posting. What is released of the hold pays first, on the card and then in the wallet; then the card pays,
 * then the wallet, and the tenant owes the rest. What is returned goes to the last payers.
 */
function payersAfter(before: Payers, moved: Movement, otherwise: 'card' | 'wallet'): Payers {
  const { network, receivable } = moved;
  const [released, returned] = [positive(-moved.cardHeld - moved.walletHeld), positive(-network)];
  const paying = least(released, positive(network));
  const byCard = least(paying, before.card);
  const byWallet = paying - byCard;
  const toWallet = least(released - paying, positive(before.wallet - byWallet));
  const toCard = released - paying - toWallet;
  const after = { card: before.card + moved.cardHeld, wallet: before.wallet + moved.walletHeld };
  // Apart from the hold and its release: positive if the balance gets something, negative if it pays.
  const card = moved.card - toCard + positive(moved.cardHeld);
  const wallet = moved.wallet - toWallet + positive(moved.walletHeld);
  const problem = (what: string): Payers => ({ ...before, ...after, problem: what });
  const left = { card: before.card - byCard - toCard, wallet: before.wallet - byWallet - toWallet };
  if (released > 0n && (after.card !== left.card || after.wallet !== left.wallet)) {
    return problem(
      `${after.card} is left on the card and ${after.wallet} in the wallet, and should be ${left.card} and ${left.wallet}`,
    );
  }
  const back = giveBack(before.paid, returned, otherwise);
  if (returned > 0n && (card !== back.card || wallet + receivable !== back.wallet)) {
    return problem(
      `${card} went back to the card and ${wallet + receivable} to the wallet, who had paid ${back.card} and ${back.wallet} of it`,
    );
  }
  if (returned === 0n && (card > 0n || wallet > 0n || receivable > 0n)) {
    return problem('money came back that the network has not returned');
  }
  const paid: Payment[] = [
    { from: 'card', minor: byCard },
    { from: 'wallet', minor: byWallet },
    { from: 'card', minor: returned > 0n ? 0n : -card },
    { from: 'wallet', minor: returned > 0n ? 0n : -wallet },
    { from: 'receivable', minor: returned > 0n ? 0n : -receivable },
  ];
  const payments = [...back.left, ...paid].filter(({ minor }) => minor > 0n);
  return { ...after, paid: payments, problem: null };
}

/** Takes an amount from the end of the payments. What the tenant owed counts as paid by the wallet. */
function giveBack(payments: readonly Payment[], minor: bigint, otherwise: 'card' | 'wallet') {
  const back = { card: 0n, wallet: 0n };
  const left = [...payments];
  let rest = minor;
  while (rest > 0n) {
    const last = left.pop() ?? { from: otherwise, minor: rest };
    const part = least(last.minor, rest);
    rest -= part;
    back[last.from === 'card' ? 'card' : 'wallet'] += part;
    if (part < last.minor) left.push({ ...last, minor: last.minor - part });
  }
  return { ...back, left };
}

/** Payments as text, neighbours of one payer as one. */
function textOf(payments: readonly Payment[]): string {
  const sums: Payment[] = [];
  for (const { from, minor } of payments) {
    const last = sums.at(-1);
    if (last?.from === from) last.minor += minor;
    else sums.push({ from, minor });
  }
  return sums.map(({ from, minor }) => `${from} ${minor}`).join(', ') || 'nobody';
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
