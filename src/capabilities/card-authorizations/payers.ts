import { historyOf, netOf, type AuthorizationBalance, type AuthorizationFact } from './facts.js';
import { least, positive } from '../../shared/money.js';

/** The parts of a hold, by the balance that they were taken from. */
export type Holds = { cardMinor: bigint; walletMinor: bigint };

/**
 * A part of what was taken, and who paid it. Several of them are in the order of payment. The wallet pays what the tenant
 * owes; `receivable` is the word of earlier versions for that. A negative part is money that came back before anybody paid.
 */
export type Payment = { from: 'card' | 'wallet' | 'receivable'; minor: bigint };

/** The parts of card and wallet in a payment: what each holds, and what each has paid. */
export type Division = { holds: Holds; payments: Payment[] };

/** The changes of the holds and of the amount taken; each is an amount in kobo, not negative. */
export type LedgerDelta = {
  /** Added to the hold, of the balance that it is taken from. */
  held: Holds;
  /** Released from the hold. */
  releasedMinor: bigint;
  /** Paid to the network. */
  takenMinor: bigint;
  /** Returned by the network. */
  returnedMinor: bigint;
};

/** Those who get money back that nobody has paid: the card, or the wallet of a `jit` card. */
type Otherwise = 'card' | 'wallet';

/**
 * The division after these facts, in the order in which they happened: a refund that is reported before its clearing goes to
 * those who pay the clearing. A fact takes from the card what it had on arrival, whatever has come to the card or left it since.
 * Null if an earlier version has stored a fact, without what the card had.
 */
export function payersOf(
  facts: readonly AuthorizationFact[],
  otherwise: Otherwise,
): Division | null {
  if (facts.some((fact) => fact.card_had_minor === undefined)) return null;
  return historyOf(facts).reduce<Division>(
    (division, { fact, before, after }) =>
      divide(
        division,
        deltaOf(before, after, (minor) => holdsAt(fact, division, minor)),
        fact.card_had_minor ?? 0n,
        otherwise,
      ),
    { holds: { cardMinor: 0n, walletMinor: 0n }, payments: [] },
  );
}

/** The parts of what a fact adds to the hold. One in our place is held on the card as far as it had money at that time. */
function holdsAt(fact: AuthorizationFact, before: Division, minor: bigint): Holds {
  if (!isDividedByTime(fact)) return holdsOf(fact, minor);
  const onCard = positive((fact.card_had_minor ?? 0n) - partOf(before, 'card'));
  return holdAsFarAs(minor, { cardMinor: onCard, walletMinor: minor });
}

/** True for an approval in our place without one of ours, whose division the hold has. */
export const isDividedByTime = (fact: AuthorizationFact): boolean =>
  fact.kind === 'approved' && fact.stand_in !== null && fact.held_wallet_minor === undefined;

/** The parts of what this fact adds to the hold. */
export function holdsOf(fact: AuthorizationFact, minor: bigint): Holds {
  const inWallet = fact.kind === 'approved' ? (fact.held_wallet_minor ?? 0n) : 0n;
  const walletMinor = least(inWallet, minor);
  return { cardMinor: minor - walletMinor, walletMinor };
}

type Amounts = Parameters<typeof netOf>[0] & Pick<AuthorizationBalance, 'heldMinor'>;

/** The movement from one balance to another. */
export function deltaOf(
  before: Amounts,
  after: Amounts,
  holds: (minor: bigint) => Holds,
): LedgerDelta {
  const more = after.heldMinor - before.heldMinor;
  const taken = netOf(after) - netOf(before);
  return {
    held: holds(positive(more)),
    releasedMinor: positive(-more),
    takenMinor: positive(taken),
    returnedMinor: positive(-taken),
  };
}

/**
 * Divides a movement among its payers. The hold pays first (on the card, then in the wallet), then the card as far as it has
 * money, then the wallet. The card pays no more than it had on arrival, also of a hold that was reported later. What returns goes
 * to those who paid, the last payer first; what nobody paid goes to `otherwise`.
 */
export function divide(
  before: Division,
  delta: LedgerDelta,
  cardHadMinor: bigint,
  otherwise: Otherwise,
): Division {
  const released = release(before.holds, delta, cardHadMinor - paidBy(before.payments, 'card'));
  const rest = delta.takenMinor - released.paid.cardMinor - released.paid.walletMinor;
  const free = cardHadMinor - partOf(before, 'card') - delta.held.cardMinor;
  const cardPays = least(rest, positive(free));
  const paid = joined([
    ...before.payments,
    { from: 'card', minor: released.paid.cardMinor },
    { from: 'wallet', minor: released.paid.walletMinor },
    { from: 'card', minor: cardPays },
    { from: 'wallet', minor: rest - cardPays },
  ]);
  return {
    holds: {
      cardMinor: released.left.cardMinor + delta.held.cardMinor,
      walletMinor: released.left.walletMinor + delta.held.walletMinor,
    },
    payments: giveBack(paid, delta.returnedMinor, otherwise),
  };
}

/** The amount that one of them has paid. */
export const paidBy = (payments: readonly Payment[], payer: 'card' | 'wallet'): bigint =>
  sumOf(payments.filter(({ from }) => (from === 'card') === (payer === 'card')));

/** The amount that one of them holds and has paid. */
export const partOf = ({ holds, payments }: Division, payer: 'card' | 'wallet'): bigint =>
  paidBy(payments, payer) + (payer === 'card' ? holds.cardMinor : holds.walletMinor);

/** The sum of payments. */
export const sumOf = (payments: readonly Payment[]): bigint =>
  payments.reduce((sum, { minor }) => sum + minor, 0n);

/** Divides an amount to hold in our place: on the card as far as it has it, then in the wallet of a `jit` card. */
export function holdAsFarAs(
  amountMinor: bigint,
  { cardMinor, walletMinor }: { cardMinor: bigint; walletMinor: bigint },
): Holds {
  const onCard = least(amountMinor, cardMinor);
  return { cardMinor: onCard, walletMinor: least(amountMinor - onCard, walletMinor) };
}

/** The released part pays for the part taken, the hold on the card first. The rest returns, that of the wallet first. */
function release(holds: Holds, { releasedMinor, takenMinor }: LedgerDelta, cardMost: bigint) {
  const most = least(releasedMinor, takenMinor);
  const cardMinor = least(most, least(holds.cardMinor, positive(cardMost)));
  const paid = { cardMinor, walletMinor: least(most - cardMinor, holds.walletMinor) };
  const back = releasedMinor - paid.cardMinor - paid.walletMinor;
  const unpaid = {
    cardMinor: holds.cardMinor - paid.cardMinor,
    walletMinor: holds.walletMinor - paid.walletMinor,
  };
  const backToWallet = least(back, unpaid.walletMinor);
  const left = {
    cardMinor: unpaid.cardMinor - (back - backToWallet),
    walletMinor: unpaid.walletMinor - backToWallet,
  };
  return { paid, left };
}

/** Takes an amount from the end of the payments. What is returned beyond them counts as negative. */
function giveBack(
  payments: readonly Payment[],
  amountMinor: bigint,
  otherwise: Otherwise,
): Payment[] {
  const left = [...payments];
  let rest = amountMinor;
  while (rest > 0n) {
    const last = left.at(-1);
    if (!last || last.minor < 0n) break;
    left.pop();
    const part = least(last.minor, rest);
    rest -= part;
    if (part < last.minor) left.push({ ...last, minor: last.minor - part });
  }
  return joined([...left, { from: otherwise, minor: -rest }]);
}

/** The payments without empty ones; neighbours of one payer are one. */
function joined(payments: readonly Payment[]): Payment[] {
  const all: Payment[] = [];
  for (const { from, minor } of payments) {
    const last = all.at(-1)?.from === from ? all.pop() : undefined;
    const sum = minor + (last?.minor ?? 0n);
    if (sum !== 0n) all.push({ from, minor: sum });
  }
  return all;
}
