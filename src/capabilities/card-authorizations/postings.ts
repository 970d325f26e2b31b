import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { CardAuthorization } from './record.js';
import type { AuthorizationFact, FactKind } from './facts.js';
import { paidBy, partOf, sumOf, type Division } from './payers.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import { payFromAvailable, payReceivable } from '../../core/ledger/receivable.js';
import { least, positive } from '../../shared/money.js';

/** The change of each balance that takes part (negative: it decreases). */
type Settlement = {
  cardMinor: bigint;
  walletMinor: bigint;
  receivableMinor: bigint;
  /** The amount that the card owes the wallet afterwards; negative: the wallet owes it to the card. */
  cardOwesMinor: bigint;
  /** The part that neither card nor wallet can pay: the tenant owes it. */
  shortfallMinor: bigint;
};

/**
 * The change from one division of a payment to another. Card and wallet give what they have, and each pays in place of the
 * other what that one lacks, until money of this payment comes to it. What both lack, the tenant owes.
 */
export function settle(
  [before, after]: readonly [Division, Division],
  cardOwesMinor: bigint,
  has: { cardMinor: bigint; wallet: Pick<Wallet, 'availableMinor' | 'receivableMinor'> },
): Settlement {
  const freed = (of: 'card' | 'wallet') => partOf(before, of) - partOf(after, of);
  const byCard = least(positive(cardOwesMinor), positive(freed('card')));
  const byWallet = least(positive(-cardOwesMinor), positive(freed('wallet')));
  const cardLacks = positive(-freed('card') - byWallet - has.cardMinor);
  const cardHas = has.cardMinor + freed('card') - byCard + byWallet + cardLacks;
  const walletMinor = freed('wallet') + byCard - byWallet - cardLacks;
  const walletLacks = positive(-walletMinor - positive(has.wallet.availableMinor));
  const fromCard = least(walletLacks, cardHas);
  // From the card to the wallet; negative: from the wallet to the card.
  const moved = byCard - byWallet - cardLacks + fromCard;
  const toWallet = freed('wallet') + moved;
  // Money that a hold releases is the tenant's own; money that returns pays the receivable first.
  const returned = paidBy(before.payments, 'wallet') - paidBy(after.payments, 'wallet') + moved;
  const returning = least(positive(returned), positive(toWallet));
  const { repaidMinor } = payReceivable(has.wallet, returning);
  const { paidMinor, owedMinor } = payFromAvailable(has.wallet, positive(-toWallet));
  return {
    cardMinor: freed('card') - moved,
    walletMinor: positive(toWallet) - repaidMinor - paidMinor,
    receivableMinor: owedMinor - repaidMinor,
    cardOwesMinor: cardOwesMinor - moved,
    shortfallMinor: owedMinor,
  };
}

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

/** The posting of all movements that a fact causes; null if none. */
export function deltaPosting(
  { _id: id, tenant_id: tenantId, card_id: card, provider }: CardAuthorization,
  [step, at]: [step: string, at: Date],
  [before, after]: readonly [Division, Division],
  { cardMinor, walletMinor, receivableMinor }: Settlement,
): Posting | null {
  const of = (change: (division: Division) => bigint) => change(after) - change(before);
  const legs = [
    { account: accounts.cardHeld(card), amountMinor: of(({ holds }) => holds.cardMinor) },
    { account: accounts.held(tenantId), amountMinor: of(({ holds }) => holds.walletMinor) },
    { account: accounts.network(provider), amountMinor: of(({ payments }) => sumOf(payments)) },
    { account: accounts.cardAvailable(card), amountMinor: cardMinor },
    { account: accounts.available(tenantId), amountMinor: walletMinor },
    { account: accounts.receivable(tenantId), amountMinor: -receivableMinor },
  ];
  const isNothing = legs.every(({ amountMinor }) => amountMinor === 0n);
  return isNothing ? null : posting(`${id}/${step}`, tenantId, at, legs);
}
