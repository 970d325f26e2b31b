import {
  addTo,
  auditPages,
  type RecordAudit,
  type RecordPage,
  type RecordWithPostings,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { cards, type Card } from '../cards/record.js';
import {
  cardAuthorizations,
  takenOf,
  type AuthorizationMessage,
  type CardAuthorization,
} from './record.js';
import { balanceAfter, type AuthorizationFact } from './facts.js';
import { stepsOfFacts, type Payment } from './postings.js';

/**
 * Audits authorizations: the balance of each one follows from its facts and equals its postings, its payers are those of its
 * postings, the networks' accounts equal the cleared amounts, and every card counts the authorizations that hold money of it.
 */
export const auditAuthorizations: RecordAudit = {
  pages: [
    auditPages(cardAuthorizations, async (page) => {
      const fundings = await fundingsOf(page);
      return page.records.flatMap((one) => [
        ...checkBalance(one),
        ...checkPostings(one),
        ...payerProblems(one, one.postings, fundings.get(one.card_id) ?? 'prepaid'),
      ]);
    }),
  ],
  tenant: auditTenant,
};

/** The kinds of the cards of a page. */
async function fundingsOf({
  collections,
  session,
  records,
}: RecordPage<CardAuthorization>): Promise<Map<string, Card['funding']>> {
  const ids = [...new Set(records.map(({ card_id: card }) => card))];
  const found = await collections
    .records(cards)
    .find(
      { _id: { $in: ids } },
      { session, projection: { funding: 1 }, ...acrossTenants('report') },
    )
    .toArray();
  return new Map(found.map(({ _id, funding }) => [_id, funding]));
}

const CARDS = 500;

type Sums = {
  cleared: Map<string, bigint>;
  held: Map<string, bigint>;
  problems: string[];
};

async function auditTenant(books: TenantBooks): Promise<TenantAudit> {
  const { collections, session, tenantId, balances } = books;
  const sums: Sums = { cleared: new Map(), held: new Map(), problems: [] };
  let batch: CountedCard[] = [];
  for await (const card of collections
    .records(cards)
    .find({ tenant_id: tenantId }, { session, projection: { open_holds: 1 } })) {
    batch.push(card);
    if (batch.length < CARDS) continue;
    await sumCards(books, batch, sums);
    batch = [];
  }
  if (batch.length > 0) await sumCards(books, batch, sums);
  const { cleared, held, problems } = sums;
  for (const [account, amountMinor] of cleared) {
    const booked = balances.get(account) ?? 0n;
    if (booked !== amountMinor) {
      problems.push(`${account} is at ${booked}, authorizations cleared ${amountMinor}`);
    }
  }
  return { problems, held };
}

type CountedCard = { _id: string; open_holds: number };

/** Adds up the authorizations of some cards, and compares the number of holds that each card has stored. */
async function sumCards(
  { collections, session, tenantId }: TenantBooks,
  batch: readonly CountedCard[],
  { cleared, held, problems }: Sums,
): Promise<void> {
  const groups = collections.records(cardAuthorizations).aggregate<{
    _id: { card: string; provider: string };
    cleared: bigint;
    refunded: bigint;
    credited: bigint;
    held: bigint;
    inWallet: bigint;
    holds: number;
  }>(
    [
      { $match: { card_id: { $in: batch.map(({ _id }) => _id) }, tenant_id: tenantId } },
      {
        $group: {
          _id: { card: '$card_id', provider: '$provider' },
          cleared: { $sum: '$cleared_minor' },
          refunded: { $sum: '$refunded_minor' },
          credited: { $sum: { $ifNull: ['$credited_minor', 0n] } },
          held: { $sum: '$held_minor' },
          inWallet: { $sum: '$held_wallet_minor' },
          holds: { $sum: { $cond: [{ $gt: ['$held_minor', 0] }, 1, 0] } },
        },
      },
    ],
    { session },
  );
  const holds = new Map<string, number>();
  for await (const { _id: of, ...sum } of groups) {
    addTo(cleared, accounts.network(of.provider), sum.cleared - sum.refunded - sum.credited);
    const onCard = sum.held - sum.inWallet;
    if (onCard > 0n) addTo(held, accounts.cardHeld(of.card), onCard);
    if (sum.inWallet > 0n) addTo(held, accounts.held(tenantId), sum.inWallet);
    holds.set(of.card, (holds.get(of.card) ?? 0) + sum.holds);
  }
  for (const { _id: id, open_holds: counted } of batch) {
    const found = holds.get(id) ?? 0;
    if (counted !== found)
      problems.push(`${id} counts ${counted} holds, its authorizations ${found}`);
  }
}

/** True if this fact holds at least the hold of the approved message. */
const holdsFor = (fact: AuthorizationFact, message: AuthorizationMessage): boolean =>
  fact.kind === 'approved' &&
  fact.message_id === message.message_id &&
  fact.held_minor >= (message.hold_minor ?? message.amount_minor);

function checkBalance(one: CardAuthorization): string[] {
  const { _id: id, status, held_minor: held, cleared_minor: cleared, refunded_minor: back } = one;
  const expected = balanceAfter(one.facts);
  const same =
    expected.status === status &&
    expected.heldMinor === held &&
    expected.clearedMinor === cleared &&
    expected.refundedMinor === back &&
    expected.creditedMinor === (one.credited_minor ?? 0n);
  const forgotten = one.messages.filter(
    (message) => message.approved && !one.facts.some((fact) => holdsFor(fact, message)),
  );
  return [
    ...(same ? [] : [`${id} is ${status}, its facts say ${expected.status}`]),
    ...forgotten.map(({ amount_minor: amount }) => `${id} approved ${amount} without a hold of it`),
  ];
}

/** Compares an authorization with the sums of its postings on the accounts of holds and of the network. */
function checkPostings({ postings, ...one }: CardAuthorization & RecordWithPostings): string[] {
  const { _id: id, tenant_id: tenantId, card_id: card, provider } = one;
  const sums = new Map<string, bigint>();
  for (const { account, amount_minor: amountMinor } of postings.flatMap(({ legs }) => legs)) {
    addTo(sums, account, amountMinor);
  }
  const of = (account: string) => sums.get(account) ?? 0n;
  const onCard = of(accounts.cardHeld(card));
  const inWallet = of(accounts.held(tenantId));
  const taken = of(accounts.network(provider));
  const problems: string[] = [];
  if (onCard + inWallet !== one.held_minor || inWallet !== one.held_wallet_minor) {
    problems.push(`${id} holds ${one.held_minor}, its postings ${onCard + inWallet}`);
  }
  const expected = takenOf(one);
  if (taken !== expected) problems.push(`${id} took ${expected}, its postings ${taken}`);
  return problems;
}

/** A payment, as far as it says who paid for it. */
export type PaidAuthorization = Pick<
  CardAuthorization,
  '_id' | 'tenant_id' | 'card_id' | 'provider' | 'facts' | 'payments'
>;

type StoredPosting = RecordWithPostings['postings'][number];

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const positive = (minor: bigint) => (minor > 0n ? minor : 0n);

/** The movement of each fact of a payment, in the order of arrival, and the name of its posting. A fact may move nothing. */
export function movementsOf(
  one: PaidAuthorization,
  postings: readonly StoredPosting[],
): { posting: string; moved: Movement }[] {
  const moved = new Map(postings.map((each) => [each._id, movementOf(one, each)]));
  return stepsOfFacts(one.facts).map((step) => {
    const posting = `${one._id}/${step}`;
    return { posting, moved: moved.get(posting) ?? NOTHING };
  });
}

/**
 * Compares those who have paid for a payment with its postings. It derives them from the postings alone, in another way than the
 * commit that wrote them: what is released of a hold pays first, and what returns goes to the last payers.
 */
export function payerProblems(
  one: PaidAuthorization,
  postings: readonly StoredPosting[],
  funding: Card['funding'],
): string[] {
  const movements = movementsOf(one, postings);
  const otherwise = funding === 'jit' ? 'wallet' : 'card';
  let payers: Payers = { card: 0n, wallet: 0n, paid: [], problem: null };
  for (const { posting, moved } of movements) {
    payers = payersAfter(payers, moved, otherwise);
    if (payers.problem !== null) return [`${posting}: ${payers.problem}`];
  }
  const named = new Set(movements.map(({ posting }) => posting));
  const foreign = postings.filter(({ _id }) => !named.has(_id));
  const [said, booked] = [textOf(one.payments), textOf(payers.paid)];
  return [
    ...foreign.map(({ _id }) => `${_id} belongs to no fact`),
    ...(said === booked ? [] : [`${one._id} was paid by ${said}, by its postings by ${booked}`]),
  ];
}

/** The movement of a posting on each account that takes part. */
export type Movement = Record<
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
  { tenant_id: tenant, card_id: card, provider }: PaidAuthorization,
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
