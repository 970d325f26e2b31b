import {
  addTo,
  auditPages,
  type PortionAudit,
  type RecordAudit,
  type RecordPage,
  type RecordWithPostings,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import { checkHeld } from '../../core/ledger/audit-tenant.js';
import { cardAccountsBetween, readBalances } from '../../core/ledger/balance.js';
import { accounts } from '../../core/ledger/posting.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { cardOperations, type CardOperation } from '../cards/card-operation.js';
import { cards, CARDS_OF_TENANT, type Card } from '../cards/record.js';
import {
  BY_CARD,
  BY_TENANT,
  cardAuthorizations,
  takenOf,
  type AuthorizationMessage,
  type CardAuthorization,
} from './record.js';
import { balanceAfter, historyOf, netOf, type AuthorizationFact } from './facts.js';
import { paidBy, sumOf, type Payment } from './payers.js';
import { stepsOfFacts } from './postings.js';
import { least, positive } from '../../shared/money.js';

/**
 * Audits authorizations: the balance of each one follows from its facts and equals its postings, its payers follow from its facts
 * and equal its postings, the networks' accounts equal the cleared amounts, every card equals its accounts and counts the authorizations that hold
 * money of it, and what cards hold has its open records.
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
  portions: { card_sums: (of, after) => auditCardSums(of, after) },
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

/** Compares the networks' accounts with all authorizations of a tenant, which the server adds up. */
async function auditTenant(books: TenantBooks): Promise<TenantAudit> {
  const { collections, session, tenantId, balances } = books;
  const groups = collections.records(cardAuthorizations).aggregate<{
    _id: string;
    cleared: bigint;
    refunded: bigint;
    credited: bigint;
    inWallet: bigint;
  }>(
    [
      { $match: { tenant_id: tenantId } },
      {
        $group: {
          _id: '$provider',
          cleared: { $sum: '$cleared_minor' },
          refunded: { $sum: '$refunded_minor' },
          credited: { $sum: { $ifNull: ['$credited_minor', 0n] } },
          inWallet: { $sum: '$held_wallet_minor' },
        },
      },
    ],
    { session, hint: BY_TENANT },
  );
  const problems: string[] = [];
  const held = new Map<string, bigint>();
  for await (const { _id: provider, cleared, refunded, credited, inWallet } of groups) {
    const account = accounts.network(provider);
    const [amountMinor, booked] = [cleared - refunded - credited, balances.get(account) ?? 0n];
    if (booked !== amountMinor) {
      problems.push(`${account} is at ${booked}, authorizations cleared ${amountMinor}`);
    }
    addTo(held, accounts.held(tenantId), inWallet);
  }
  return { problems, held };
}

/** Cards that are compared at one moment. */
const CARDS = 1_000;

/** The amounts of a card that are compared. */
type CardAmounts = Pick<Card, '_id' | 'available_minor' | 'held_minor' | 'open_holds'>;

/**
 * Compares some cards, in the order of their ids, with their accounts and with the open records that hold money of them. An account
 * between them without a card is reported too.
 */
const auditCardSums: PortionAudit = async ({ db, session, tenantId }, after) => {
  const page = await db
    .collection<Card>(cards.name)
    .find(
      { tenant_id: tenantId, ...(after !== '' && { _id: { $gt: after } }) },
      {
        session,
        hint: CARDS_OF_TENANT,
        projection: { available_minor: 1, held_minor: 1, open_holds: 1 },
      },
    )
    .sort({ _id: 1 })
    .limit(CARDS)
    .toArray();
  const last = page.length === CARDS ? page.at(-1)?._id : undefined;
  const only = cardAccountsBetween(after, last);
  const { byAccount } = await readBalances(db, { tenantId, session, only });
  const open = await openOn(page, { db, session, tenantId });
  const problems = page.flatMap((card) => [
    ...accountProblems(card, byAccount),
    ...holdProblems(card, open.holds.get(card._id) ?? 0),
  ]);
  const known = new Set(page.flatMap(({ _id }) => accountsOf(_id)));
  for (const account of byAccount.keys()) {
    if (!known.has(account)) problems.push(`${account} has no card`);
  }
  problems.push(...checkHeld(byAccount, open.held));
  return { next: last ?? null, problems };
};

const accountsOf = (card: string) => [accounts.cardAvailable(card), accounts.cardHeld(card)];

function accountProblems(
  { _id: id, available_minor: available, held_minor: held }: CardAmounts,
  balances: ReadonlyMap<string, bigint>,
): string[] {
  const stored: [string, bigint][] = [
    [accounts.cardAvailable(id), available],
    [accounts.cardHeld(id), held],
  ];
  return stored.flatMap(([account, minor]) => {
    const booked = balances.get(account) ?? 0n;
    return minor === booked ? [] : [`${account}: the card says ${minor}, its postings ${booked}`];
  });
}

const holdProblems = ({ _id: id, open_holds: counted }: CardAmounts, found: number): string[] =>
  counted === found ? [] : [`${id} counts ${counted} holds, its authorizations ${found}`];

/** The amounts that authorizations and unloadings hold on cards, by account, and the number of authorizations with a hold of each card. */
async function openOn(
  page: readonly CardAmounts[],
  { db, session, tenantId }: Parameters<PortionAudit>[0],
) {
  const theirs = { card_id: { $in: page.map(({ _id }) => _id) }, tenant_id: tenantId };
  const authorized = db
    .collection(cardAuthorizations.name)
    .aggregate<{ _id: string; held: bigint; inWallet: bigint; holds: number }>(
      [
        { $match: { ...theirs, held_minor: { $gt: 0 } } },
        {
          $group: {
            _id: '$card_id',
            held: { $sum: '$held_minor' },
            inWallet: { $sum: '$held_wallet_minor' },
            holds: { $sum: 1 },
          },
        },
      ],
      { session, hint: BY_CARD },
    );
  const held = new Map<string, bigint>();
  const holds = new Map<string, number>();
  for await (const { _id: card, ...sum } of authorized) {
    addTo(held, accounts.cardHeld(card), sum.held - sum.inWallet);
    holds.set(card, sum.holds);
  }
  const unloads = db
    .collection<CardOperation>(cardOperations.name)
    .find(
      { ...theirs, type: 'unload', status: { $in: ['pending', 'processing'] } },
      { session, projection: { card_id: 1, amount_minor: 1 } },
    );
  for await (const { card_id: card, amount_minor: amountMinor } of unloads) {
    addTo(held, accounts.cardHeld(card), amountMinor ?? 0n);
  }
  return { held, holds };
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
  | '_id'
  | 'tenant_id'
  | 'card_id'
  | 'provider'
  | 'facts'
  | 'payments'
  | 'card_owes_minor'
  | 'held_wallet_minor'
>;

type StoredPosting = RecordWithPostings['postings'][number];

/** The movement of each fact of a payment, in the order of arrival, and the name of its posting. A fact may move nothing. */
export function movementsOf(
  one: PaidAuthorization,
  postings: readonly StoredPosting[],
): { posting: string; moved: Movement }[] {
  const moved = new Map(postings.map((each) => [each._id, movementOf(one, each.legs)]));
  return stepsOfFacts(one.facts).map((step) => {
    const posting = `${one._id}/${step}`;
    return { posting, moved: moved.get(posting) ?? movementOf(one, []) };
  });
}

/**
 * Compares those who have paid for a payment with its postings, together and one by one, and with its facts in the order in which
 * they happened. It derives them in another way than the commit that wrote them.
 */
export function payerProblems(
  one: PaidAuthorization,
  postings: readonly StoredPosting[],
  funding: Card['funding'],
): string[] {
  const { _id: id, payments, facts, held_wallet_minor: inWallet } = one;
  const otherwise = funding === 'jit' ? 'wallet' : 'card';
  const named = new Set(stepsOfFacts(facts).map((step) => `${id}/${step}`));
  const problems = postings
    .filter(({ _id }) => !named.has(_id))
    .map(({ _id }) => `${_id} belongs to no fact`);
  const booked = movementOf(
    one,
    postings.flatMap(({ legs }) => legs),
  );
  const [byCard, byWallet] = [
    -booked.card - booked.cardHeld,
    -booked.wallet - booked.walletHeld - booked.receivable,
  ];
  const said = saidOf(one, booked.network, otherwise);
  if (byCard !== said.card || byWallet !== said.wallet) {
    problems.push(
      `${id}: the card gave ${byCard} and the wallet ${byWallet}, whose parts are ${said.card} and ${said.wallet}`,
    );
  }
  // A fact of an earlier version does not say what the card had.
  if (facts.some((fact) => fact.card_had_minor === undefined)) return problems;
  const derived = payersByFacts(facts, otherwise);
  if (derived.held.wallet !== inWallet) {
    problems.push(`${id} holds ${inWallet} in the wallet, by its facts ${derived.held.wallet}`);
  }
  const [stored, wanted] = [textOf(payments), textOf(derived.paid)];
  if (stored !== wanted) problems.push(`${id} was paid by ${stored}, by its facts by ${wanted}`);
  // The time that this takes grows with the cube of the facts.
  return facts.length > MOST_FACTS
    ? problems
    : [...problems, ...wrongPostings(one, postings, otherwise)];
}

const MOST_FACTS = 100;
const cardPart = ({ held, paid }: Payers) => held.card + paidBy(paid, 'card');

/** Compares each posting with the facts that were known by then, and with what the card had. */
function wrongPostings(
  one: PaidAuthorization,
  postings: readonly StoredPosting[],
  otherwise: 'card' | 'wallet',
): string[] {
  let before: Payers = { held: { card: 0n, wallet: 0n }, paid: [] };
  let owes = 0n;
  return movementsOf(one, postings).flatMap(({ posting, moved }, i) => {
    const after = payersByFacts(one.facts.slice(0, i + 1), otherwise);
    const [was, is] = [cardPart(before), cardPart(after)];
    const held = after.held.card - before.held.card;
    const heldInWallet = after.held.wallet - before.held.wallet;
    const taken = sumOf(after.paid) - sumOf(before.paid);
    const owed = owes + moved.card + is - was;
    const left = (one.facts[i]?.card_had_minor ?? 0n) - was + owes + moved.card;
    const lends = moved.receivable < 0n || owed > (owes > 0n ? owes : 0n);
    before = after;
    owes = owed;
    if (held !== moved.cardHeld || heldInWallet !== moved.walletHeld || taken !== moved.network) {
      return [
        `${posting}: by its facts ${held} is held on the card, ${heldInWallet} in the wallet, and ${taken} taken`,
      ];
    }
    return left < 0n || (lends && left > 0n)
      ? [`${posting}: the card keeps ${left} beside what is owed, or paid in its place`]
      : [];
  });
}

/** The amounts that card and wallet have given, according to the record. */
function saidOf(
  { payments, card_owes_minor: owes = 0n }: PaidAuthorization,
  takenMinor: bigint,
  otherwise: 'card' | 'wallet',
) {
  const said = { card: -owes, wallet: owes };
  for (const { from, minor } of payments) said[from === 'card' ? 'card' : 'wallet'] += minor;
  // An earlier version did not store what came back before anybody had paid.
  const unpaid = takenMinor - said.card - said.wallet;
  if (unpaid < 0n) said[otherwise] += unpaid;
  return said;
}

/** The movement of a posting on each account that takes part. */
export type Movement = Record<
  'cardHeld' | 'walletHeld' | 'card' | 'wallet' | 'receivable' | 'network',
  bigint
>;

function movementOf(
  { tenant_id: tenant, card_id: card, provider }: PaidAuthorization,
  legs: StoredPosting['legs'],
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

/** The holds and those who have paid, in the order of payment. */
type Payers = { held: { card: bigint; wallet: bigint }; paid: Payment[] };

/**
 * Those who have paid after these facts. What is released of a hold pays first, on the card as far as it had money, and then in the
 * wallet; then the card pays as far as it had more, then the wallet. What is returned goes to the last payers.
 */
function payersByFacts(facts: readonly AuthorizationFact[], otherwise: 'card' | 'wallet'): Payers {
  const payers: Payers = { held: { card: 0n, wallet: 0n }, paid: [] };
  const { held, paid } = payers;
  for (const { fact, before, after } of historyOf(facts)) {
    const ofCard = paid.reduce((sum, { from, minor }) => (from === 'card' ? sum + minor : sum), 0n);
    const most = positive((fact.card_had_minor ?? 0n) - ofCard);
    const free = positive(most - held.card);
    let released = before.heldMinor - after.heldMinor;
    if (fact.kind === 'approved') {
      const late = fact.stand_in === null ? 0n : positive(fact.held_minor - free);
      const inWallet = fact.held_wallet_minor ?? late;
      held.wallet += inWallet;
      held.card += fact.held_minor - inWallet;
      released = 0n;
    }
    let rest = netOf(after) - netOf(before);
    if (rest < 0n) takeBack(paid, -rest, otherwise);
    const pay = (from: 'card' | 'wallet', most: bigint) => {
      const minor = least(positive(rest), most);
      rest -= minor;
      if (minor > 0n) paid.push({ from, minor });
      return minor;
    };
    const byCard = pay('card', least(least(released, held.card), most));
    const byWallet = pay('wallet', least(released - byCard, held.wallet));
    pay('card', free);
    pay('wallet', positive(rest));
    const toWallet = least(released - byCard - byWallet, held.wallet - byWallet);
    held.card -= released - byWallet - toWallet;
    held.wallet -= byWallet + toWallet;
  }
  return payers;
}

/** Takes an amount from the end of the payments. */
function takeBack(paid: Payment[], minor: bigint, otherwise: 'card' | 'wallet'): void {
  let rest = minor;
  while (rest > 0n) {
    const last = paid.pop();
    const part = last && last.minor > 0n ? least(last.minor, rest) : 0n;
    if (last && last.minor !== part) paid.push({ ...last, minor: last.minor - part });
    rest -= part;
    if (part > 0n) continue;
    paid.push({ from: otherwise, minor: -rest });
    rest = 0n;
  }
}

/** Payments as text, neighbours of one payer as one. */
function textOf(payments: readonly Payment[]): string {
  const sums: Payment[] = [];
  for (const { from, minor } of payments) {
    const last = sums.at(-1)?.from === from ? sums.pop() : undefined;
    const sum = minor + (last?.minor ?? 0n);
    if (sum !== 0n) sums.push({ from, minor: sum });
  }
  return sums.map(({ from, minor }) => `${from} ${minor}`).join(', ') || 'nobody';
}
