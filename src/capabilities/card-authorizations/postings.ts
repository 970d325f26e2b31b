import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { CardAuthorization } from './record.js';
import type { AuthorizationFact, FactKind } from './facts.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import { payReceivable } from '../../core/ledger/receivable.js';

/** The parts of a hold, by the balance that they were taken from. */
export type Holds = { cardMinor: bigint; walletMinor: bigint };

/** A part of what was taken, and who paid it. Several of them are in the order of payment. */
export type Payment = { from: 'card' | 'wallet' | 'receivable'; minor: bigint };

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

/** The balances that can pay. */
type Balances = {
  cardMinor: bigint;
  wallet: Pick<Wallet, 'availableMinor' | 'receivableMinor'>;
};

/** The change of each balance that takes part (negative: it decreases), and what remains held and paid. */
export type Settlement = {
  cardMinor: bigint;
  walletMinor: bigint;
  receivableMinor: bigint;
  holds: Holds;
  payments: Payment[];
  /** The part that neither card nor wallet can pay: the tenant owes it. */
  shortfallMinor: bigint;
};

/**
 * Divides a movement among its payers. The hold pays first (on the card, then in the wallet), then the card, then the wallet;
 * the tenant owes the rest. What returns goes to those who paid, the last payer first. A return that nobody paid for goes
 * to `otherwise`.
 */
export function settle(
  delta: LedgerDelta,
  before: { holds: Holds; payments: readonly Payment[]; otherwise: 'card' | 'wallet' },
  has: Balances,
): Settlement {
  const released = release(before.holds, delta);
  const rest = delta.takenMinor - released.paid.cardMinor - released.paid.walletMinor;
  const cardPays = least(rest, has.cardMinor - delta.held.cardMinor);
  const walletPays = least(rest - cardPays, has.wallet.availableMinor - delta.held.walletMinor);
  const owed = rest - cardPays - walletPays;
  const paid = joined([
    ...before.payments,
    { from: 'card', minor: released.paid.cardMinor },
    { from: 'wallet', minor: released.paid.walletMinor },
    { from: 'card', minor: cardPays },
    { from: 'wallet', minor: walletPays },
    { from: 'receivable', minor: owed },
  ]);
  const back = giveBack(paid, delta.returnedMinor, before.otherwise);
  const { repaidMinor, restMinor } = payReceivable(has.wallet, back.walletMinor);
  return {
    cardMinor: released.back.cardMinor + back.cardMinor - cardPays - delta.held.cardMinor,
    walletMinor: released.back.walletMinor + restMinor - walletPays - delta.held.walletMinor,
    receivableMinor: owed - repaidMinor,
    holds: {
      cardMinor: released.left.cardMinor + delta.held.cardMinor,
      walletMinor: released.left.walletMinor + delta.held.walletMinor,
    },
    payments: back.left,
    shortfallMinor: owed,
  };
}

/** Divides an amount to hold in our place: on the card as far as it has it, then in the wallet of a `jit` card. */
export function holdAsFarAs(
  amountMinor: bigint,
  { cardMinor, walletMinor }: { cardMinor: bigint; walletMinor: bigint },
): Holds {
  const onCard = least(amountMinor, cardMinor);
  return { cardMinor: onCard, walletMinor: least(amountMinor - onCard, walletMinor) };
}

/** The released part pays for the part taken, the hold on the card first. The rest returns, that of the wallet first. */
function release(holds: Holds, { releasedMinor, takenMinor }: LedgerDelta) {
  const paying = least(releasedMinor, takenMinor);
  const paidByCard = least(paying, holds.cardMinor);
  const paid = { cardMinor: paidByCard, walletMinor: paying - paidByCard };
  const unpaid = {
    cardMinor: holds.cardMinor - paid.cardMinor,
    walletMinor: holds.walletMinor - paid.walletMinor,
  };
  const backToWallet = least(releasedMinor - paying, unpaid.walletMinor);
  const back = { cardMinor: releasedMinor - paying - backToWallet, walletMinor: backToWallet };
  const left = {
    cardMinor: unpaid.cardMinor - back.cardMinor,
    walletMinor: unpaid.walletMinor - back.walletMinor,
  };
  return { paid, back, left };
}

/** Takes an amount from the end of the payments. A part that the tenant owed counts as the wallet's. */
function giveBack(
  payments: readonly Payment[],
  amountMinor: bigint,
  otherwise: 'card' | 'wallet',
): Holds & { left: Payment[] } {
  const left = [...payments];
  let rest = amountMinor;
  const back: Holds = { cardMinor: 0n, walletMinor: 0n };
  const add = (to: 'card' | 'wallet', minor: bigint) => {
    if (to === 'card') back.cardMinor += minor;
    else back.walletMinor += minor;
  };
  while (rest > 0n) {
    const last = left.pop();
    if (!last) break;
    const part = least(last.minor, rest);
    rest -= part;
    add(last.from === 'card' ? 'card' : 'wallet', part);
    if (part < last.minor) left.push({ ...last, minor: last.minor - part });
  }
  add(otherwise, rest);
  return { ...back, left: joined(left) };
}

/** The payments without empty ones; neighbours of one payer are one. */
function joined(payments: readonly Payment[]): Payment[] {
  const all: Payment[] = [];
  for (const { from, minor } of payments) {
    const last = all.at(-1);
    if (minor === 0n) continue;
    if (last?.from === from) all[all.length - 1] = { from, minor: last.minor + minor };
    else all.push({ from, minor });
  }
  return all;
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);

const STEPS: Record<FactKind, string> = {
  approved: 'hold',
  declined: 'release',
  expired: 'release',
  cleared: 'clear',
  reversed: 'reversal',
  refunded: 'refund',
  refund_reversed: 'refund-reversal',
  corrected: 'correction',
  dispute_credited: 'dispute-credit',
  dispute_debited: 'dispute-debit',
};

/** The names of the postings of facts. Repeated kinds are numbered, because they may occur several times. */
export function stepsOfFacts(facts: readonly AuthorizationFact[]): string[] {
  const counts = new Map<string, number>();
  return facts.map(({ kind }) => {
    const step = STEPS[kind];
    const count = (counts.get(step) ?? 0) + 1;
    counts.set(step, count);
    return count === 1 ? step : `${step}-${count}`;
  });
}

/** The posting of all movements that a fact causes; `settle` has divided them among the payers. */
export function deltaPosting(
  before: CardAuthorization,
  step: string,
  at: Date,
  { takenMinor, returnedMinor, settled }: LedgerDelta & { settled: Settlement },
): Posting {
  const { _id: id, tenant_id: tenantId, card_id: card, provider } = before;
  const { held_minor: held, held_wallet_minor: heldInWallet } = before;
  const { holds, cardMinor, walletMinor, receivableMinor } = settled;
  return posting(`${id}/${step}`, tenantId, at, [
    { account: accounts.cardHeld(card), amountMinor: holds.cardMinor - (held - heldInWallet) },
    { account: accounts.held(tenantId), amountMinor: holds.walletMinor - heldInWallet },
    { account: accounts.network(provider), amountMinor: takenMinor - returnedMinor },
    { account: accounts.cardAvailable(card), amountMinor: cardMinor },
    { account: accounts.available(tenantId), amountMinor: walletMinor },
    { account: accounts.receivable(tenantId), amountMinor: -receivableMinor },
  ]);
}
