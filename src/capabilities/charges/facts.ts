import type { SavedMethod } from '../../core/providers/payment-provider.js';
import type { FactSource } from '../../core/instructions/fact.js';
import type { Change } from '../../core/instructions/transition.js';
import type { Posting } from '../../core/ledger/posting.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import {
  ANOTHER_CURRENCY,
  attemptReference,
  paidMinorOf,
  UNPROVEN_FAILURES,
  type Charge,
} from './record.js';

/**
 * A fact about a charge, from any source. `attempt` is the attempt that the fact is about; null means the present one.
 */
export type ChargeFact = FactSource & { attempt: number | null } & (
    | {
        kind: 'succeeded';
        amountMinor: bigint;
        currency: string;
        /** The provider's own surcharge on top of the amount. */
        surchargeMinor: bigint;
        feeMinor: bigint | null;
        /** A secret: it is stored with the token, and nowhere else. */
        method: SavedMethod | null;
      }
    /** `ifNotSubmitted`: an operator's command that applies only if nothing was submitted. */
    | { kind: 'rejected'; code: string; decline: 'soft' | 'hard'; ifNotSubmitted?: boolean }
    /** It can never be paid: its customer has cancelled it, or its tenant. */
    | { kind: 'cancelled' }
    /**
     * Its tenant cancels it. `endsHere`: its provider can't cancel, so a charge that waits for its customer ends here, and a
     * later payment completes it all the same.
     */
    | { kind: 'cancel_requested'; endsHere: boolean }
    /** The address of this page was lost, so nobody can have seen it: another page is opened. */
    | { kind: 'page_lost' }
    /** The customer's time is over, and the provider has just said that nothing was paid. */
    | { kind: 'expired' }
    /** The provider has taken the whole payment back, and has named every refund and dispute that it knows. */
    | { kind: 'taken_back' }
    /** `amountMinor`: the operator accepts this amount, which is in suspense, in place of the requested one. */
    | { kind: 'operator_confirmed'; amountMinor?: bigint }
  );

/** The balances that a charge's facts change. */
export type WalletBalances = Pick<Wallet, 'availableMinor' | 'receivableMinor'>;

/** The part of a transition that depends on the fact, with its postings and the changes of the wallet. */
export type ChargeChange = Change<Charge> & {
  postings?: Posting[];
  availableMinor?: bigint;
  receivableMinor?: bigint;
};

/** A payment, as its provider reports it. */
export type Paid = Extract<ChargeFact, { kind: 'succeeded' }>;
/** A refusal of an attempt, by its provider or an operator. */
export type Refused = Extract<ChargeFact, { kind: 'rejected' }>;

/** The reason for attention if a payment is reported with another fee than before. */
export const ANOTHER_FEE = 'the provider reports another fee than before';

/** The reason for attention if a payment has another amount. */
export const ANOTHER_AMOUNT = 'the provider reports another amount than was requested';

/** The reason for attention if a fee is below zero, or above the amount: a flat fee of a small payment, or a wrong unit. */
export const ODD_FEE = 'the provider reports a fee that is below zero or above the amount';

/** True if an operator has to look at the fee of a payment. */
export const hasOddFee = ({ amountMinor, feeMinor }: Pick<Paid, 'amountMinor' | 'feeMinor'>) =>
  feeMinor !== null && (feeMinor < 0n || feeMinor > amountMinor);

/** The reason why a reported payment cannot be booked; null if it can. */
export const findMismatch = (charge: Charge, { currency }: Paid): string | null =>
  currency === charge.currency ? null : ANOTHER_CURRENCY;

/** The reason for attention if an earlier attempt was paid and the present one may have been paid too; else null. */
export function alsoOut(charge: Charge, { attempt: paid }: Pick<Paid, 'attempt'>): string | null {
  const {
    status,
    attempt,
    submissions: sends,
    rejected_submissions: notTaken,
    failure,
    monitor_until: watched,
  } = charge;
  if (paid === null || paid === attempt || sends === notTaken) return null;
  // A failure that the provider reported is proven; one that an operator forced is not.
  const isProven = !UNPROVEN_FAILURES.has(failure?.code ?? '');
  const known = status === 'failed' && watched === null && isProven;
  return known ? null : alsoOutReason(charge);
}

/** The reason for attention as long as this attempt of a paid charge may have been paid too. */
export const alsoOutReason = (charge: Pick<Charge, '_id' | 'attempt'>): string =>
  `another attempt was paid; look up ${attemptReference(charge)} at the provider too`;

/** An entry of the timeline that names the attempt whose payment it is about. */
export const aboutAttempt = <C extends { entry: [unknown, string] }>(
  change: C | 'unchanged',
  attempt: number,
): C | 'unchanged' => {
  if (change === 'unchanged') return change;
  const [type, detail] = change.entry;
  return { ...change, entry: [type, detailOf(detail, attempt)] };
};

const detailOf = (reason: string, attempt: number) => `${reason} (attempt ${attempt})`;

/**
 * True if an operator failed the charge after attention for this reason, or has ended that attention. The payment of another attempt
 * is another reason. An earlier release did not name the attempt.
 */
export function isSettledBy(
  { failure, timeline }: Charge,
  reason: string,
  attempt: number,
): boolean {
  const named = detailOf(reason, attempt);
  const raised = timeline.findLastIndex(
    ({ type, detail }) =>
      type === 'attention_raised' && (detail === reason || detail?.startsWith(named)),
  );
  const isEnded = timeline.slice(raised).some(({ type }) => type === 'attention_cleared');
  return raised >= 0 && (failure?.code === 'operator' || isEnded);
}

/**
 * The report of a completed charge's payment as it was booked. A report that does not tell the amount from the provider's
 * surcharge has both in one sum.
 */
export function withoutSurcharge(charge: Charge, fact: Paid): Paid {
  const amountMinor = paidMinorOf(charge);
  const surchargeMinor = charge.surcharge_minor ?? 0n;
  if (fact.surchargeMinor !== 0n || fact.amountMinor !== amountMinor + surchargeMinor) return fact;
  const feeMinor = fact.feeMinor === null ? null : fact.feeMinor - surchargeMinor;
  return {
    ...fact,
    amountMinor,
    surchargeMinor,
    feeMinor: feeMinor !== null && feeMinor < 0n ? null : feeMinor,
  };
}
