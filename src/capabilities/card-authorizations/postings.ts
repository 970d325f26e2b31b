import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { CardAuthorization } from './record.js';
import type { AuthorizationFact, FactKind } from './facts.js';
import { paidBy, partOf, sumOf, type Division } from './payers.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import { payFromAvailable, payReceivable } from '../../core/ledger/receivable.js';

/** The change of each balance that takes part (negative: it decreases). */
type Settlement = {
  cardMinor: bigint;
  walletMinor: bigint;
  receivableMinor: bigint;
  /** The amount that the card owes the wallet afterwards. */
  cardOwesMinor: bigint;
  /** The part that neither card nor wallet can pay: the tenant owes it. */
  shortfallMinor: bigint;
};

/**
 * The change from one division of a payment to another. The card gives what it has; the wallet pays the rest in its place,
 * until money of this payment comes to the card. What the wallet lacks, the tenant owes.
 */
export function settle(
  [before, after]: readonly [Division, Division],
  cardOwesMinor: bigint,
  has: { cardMinor: bigint; wallet: Pick<Wallet, 'availableMinor' | 'receivableMinor'> },
): Settlement {
  const toCard = partOf(before, 'card') - partOf(after, 'card');
  const repaid = least(cardOwesMinor, positive(toCard));
  const lacking = positive(-toCard - has.cardMinor);
  const toWallet = partOf(before, 'wallet') - partOf(after, 'wallet') + repaid - lacking;
  // Money that a hold releases is the tenant's own; money that returns pays the receivable first.
  const returned = paidBy(before.payments, 'wallet') - paidBy(after.payments, 'wallet') + repaid;
  const returning = least(positive(returned), positive(toWallet));
  const { repaidMinor } = payReceivable(has.wallet, returning);
  const { paidMinor, owedMinor } = payFromAvailable(has.wallet, positive(-toWallet));
  return {
    cardMinor: toCard - repaid + lacking,
    walletMinor: positive(toWallet) - repaidMinor - paidMinor,
    receivableMinor: owedMinor - repaidMinor,
    cardOwesMinor: cardOwesMinor - repaid + lacking,
    shortfallMinor: owedMinor,
  };
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const positive = (minor: bigint) => (minor > 0n ? minor : 0n);

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
