import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import { refuseTakenReference, refuseUncovered, keysOf, type Claim } from '../commit/accept.js';
import type { RecordCollection } from '../commit/collection.js';
import type { Reads, UnitOfWork } from '../commit/unit-of-work.js';
import {
  accounts,
  correctHold,
  holdPosting,
  moveHoldBy,
  unspentOf,
  type Hold,
  type HoldMovement,
  type WalletBalances,
} from '../ledger/posting.js';
import { lagosDay, restoreDailyLimit, usedOn } from '../ledger/wallet.js';
import type { HeldInstruction, TransitionResult } from '../instructions/held-instruction.js';

/**
 * A payment to somebody outside, such as a transfer: its total is held from acceptance, a capture moves the amount to the
 * provider and the fee to Bursar, and the amount counts towards the daily limit of the tenant. Amounts are in kobo.
 */
export type OutgoingPayment = HeldInstruction & {
  reference: string;
  amount_minor: bigint;
  fee_minor: bigint;
  total_minor: bigint;
  /** Amount that the provider has paid and an operator has accepted, if it is not `amount_minor`. */
  settled_amount_minor: bigint | null;
  /** The provider's price to us, once it has reported one. */
  provider_fee_minor?: bigint | null;
  /** Africa/Lagos day of acceptance. The amount counts towards the daily limit of this day. */
  limit_day: string;
};

/** The amount that the provider pays: the requested one, or the one that an operator has accepted in its place. */
export const settledOf = ({
  amount_minor: amount,
  settled_amount_minor: settled,
}: Pick<OutgoingPayment, 'amount_minor' | 'settled_amount_minor'>): bigint => settled ?? amount;

/** The hold of a payment. A capture moves the amount to the provider, and the fee to Bursar. */
export const holdOf = (payment: OutgoingPayment): Hold => ({
  id: payment._id,
  tenantId: payment.tenant_id,
  heldAt: payment.created_at,
  provider: payment.provider,
  amountMinor: payment.amount_minor,
  settledMinor: payment.settled_amount_minor,
  corrections: payment.corrections ?? 0,
  captured: [
    { account: accounts.clearing(payment.provider), amountMinor: payment.amount_minor },
    { account: accounts.fees, amountMinor: payment.fee_minor },
  ],
});

const referenceOf = <P extends OutgoingPayment>(
  collection: RecordCollection<P>,
  { tenant_id: tenantId, reference }: P,
) => ({ collection, tenantId, reference });

/** The reads of an acceptance: the idempotency key, the references and the wallet. */
export const readsOfPayments = <P extends OutgoingPayment>(
  collection: RecordCollection<P>,
  { tenantId, claim }: { tenantId: string; claim: Claim | null },
  payments: readonly P[],
): Reads => ({
  keys: keysOf(claim),
  // A reference that is the record's own id can't have been taken.
  references: payments
    .filter(({ _id, reference }) => reference !== _id)
    .map((payment) => referenceOf(collection, payment)),
  wallets: [tenantId],
});

/**
 * Accepts a payment: holds its total, counts its day, creates the record. Returns the record, or a refusal, which uses
 * neither reference nor limit.
 */
export function admitPayment<P extends OutgoingPayment>(
  uow: UnitOfWork,
  collection: RecordCollection<P>,
  { payment, dailyLimitMinor }: { payment: P; dailyLimitMinor: bigint },
  now: Date,
): P | ApiError {
  const wallet = uow.wallet(payment.tenant_id);
  // The API's clock may be ahead of the decision's time, which the database server bounds.
  const today = lagosDay(now);
  const wanted = payment.limit_day > today ? today : payment.limit_day;
  const { day, usedMinor } = usedOn(wallet, wanted);
  const taken = refuseTakenReference(uow, referenceOf(collection, payment));
  if (taken) return taken;
  if (wallet.availableMinor < payment.total_minor) {
    return refuseUncovered(payment.total_minor, wallet.availableMinor);
  }
  if (usedMinor + payment.amount_minor > dailyLimitMinor) {
    return new ApiError('limit_exceeded', {
      details: { limit: toWireAmount(dailyLimitMinor), used: toWireAmount(usedMinor) },
    });
  }
  const held: P = { ...payment, limit_day: day };
  uow.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor - held.total_minor,
    limitDay: day,
    limitUsedMinor: usedMinor + held.amount_minor,
  });
  uow.create(collection, held);
  uow.takeReference(referenceOf(collection, held), held._id);
  uow.post(holdPosting(holdOf(held)));
  return held;
}

/** The effect of a fact: the next record, its postings, and the changes of the wallet's balances. */
export type PaymentTransition<P extends OutgoingPayment> = Pick<
  TransitionResult<P>,
  'verdict' | 'next'
> &
  HoldMovement & {
    /** Amount that the daily limit of the day of acceptance gets back. */
    dayMinor: bigint;
  };

/** Turns the ledger effects of a transition into postings and balance changes. */
export function movePayment<P extends OutgoingPayment>(
  payment: P,
  transition: Readonly<TransitionResult<P>>,
  now: Date,
  wallet: WalletBalances,
): PaymentTransition<P> {
  const { verdict, next, ledgerEffects, correction } = transition;
  const [before, after] = [holdOf(payment), holdOf(next)];
  const corrected = { before, after, inSuspense: payment.in_suspense };
  const first = correction && correctHold(corrected, correction, now, wallet);
  return {
    verdict,
    next,
    ...moveHoldBy(after, ledgerEffects, now, wallet, first),
    dayMinor: dayMinorOf(payment, transition),
  };
}

/** The part of the amount that does not count towards the daily limit any more. Negative: it counts again. */
function dayMinorOf<P extends OutgoingPayment>(
  payment: P,
  { next, ledgerEffects: steps, correction }: Readonly<TransitionResult<P>>,
): bigint {
  const [before, after] = [unspentOf(holdOf(payment)), unspentOf(holdOf(next))];
  const isReturned = correction === 'return' && !payment.in_suspense;
  if (isReturned || steps.includes('release') || steps.includes('reversal')) {
    return payment.amount_minor - before;
  }
  if (correction === 'adjustment' && !payment.in_suspense) return after - before;
  // Its day was given back when the hold was released.
  if (steps.includes('suspense-debit')) return after - payment.amount_minor;
  return steps.includes('capture') ? after : 0n;
}

/** True if the wallet covers what a fact of an operator takes from it: the amount that it names, or the whole one. */
export function isCovered(
  payment: OutgoingPayment,
  fact: { kind: string; amountMinor?: bigint | null },
  { availableMinor }: WalletBalances,
): boolean {
  const named = fact.kind === 'operator_confirmed' ? fact.amountMinor : null;
  const settledMinor = named ?? payment.settled_amount_minor;
  const unspentMinor = unspentOf({ ...holdOf(payment), settledMinor });
  const paidMinor =
    payment.status === 'completed' ? payment.total_minor - unspentOf(holdOf(payment)) : 0n;
  const wantedMinor = payment.total_minor - unspentMinor - paidMinor;
  return wantedMinor <= 0n || availableMinor >= wantedMinor;
}

/** Writes the money of a transition: postings, balances, and the daily limit of the day of acceptance. */
export function postPayment<P extends OutgoingPayment>(
  uow: UnitOfWork,
  payment: P,
  { postings, availableMinor, receivableMinor, dayMinor }: PaymentTransition<P>,
): void {
  postings.forEach(uow.post);
  // A capture does not change the wallet: it must not compete with acceptances for the wallet's document.
  if (availableMinor === 0n && receivableMinor === 0n && dayMinor === 0n) return;
  const wallet = uow.wallet(payment.tenant_id);
  const touched = {
    ...wallet,
    availableMinor: wallet.availableMinor + availableMinor,
    receivableMinor: wallet.receivableMinor + receivableMinor,
  };
  uow.changeWallet(restoreDailyLimit(touched, payment.limit_day, dayMinor));
}
