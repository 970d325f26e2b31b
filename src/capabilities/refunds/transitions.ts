import {
  moveHoldBy,
  unspentOf,
  type HoldMovement,
  type WalletBalances,
} from '../../core/ledger/posting.js';
import type { HoldStep } from '../../core/instructions/held-instruction.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type {
  TransitionResult,
  TransitionRules,
} from '../../core/instructions/held-instruction.js';
import { transitionHeld } from '../../core/instructions/held-transitions.js';
import { holdOf } from './postings.js';
import { refundFailure, type Refund } from './record.js';
import { refundContract } from './workflow-contract.js';

/** The changes of what a charge counts of its refunds (negative: decreases). */
type ChargeChange = {
  /** The refund is in progress, or was proven after the release of its hold and is not debited yet. */
  refundingMinor: bigint;
  refundedMinor: bigint;
};

/** The effect of a fact: the next record, its postings, and the changes of the wallet's and the charge's balances. */
export type RefundTransition = Pick<TransitionResult<Refund>, 'verdict' | 'next'> &
  HoldMovement &
  ChargeChange;

/** The change of the charge's counts by each movement, in amounts of the refund: [in progress, refunded]. */
export const CHARGE_CHANGES: Record<HoldStep, readonly [bigint, bigint]> = {
  capture: [-1n, 1n],
  release: [-1n, 0n],
  reversal: [0n, -1n],
  suspense: [1n, 0n],
  'suspense-reversal': [-1n, 0n],
  'suspense-debit': [-1n, 1n],
};

/**
 * The state machine of refunds. core/instructions/held-transitions.ts decides the transition; this function turns its
 * ledger effects into postings and balance changes. `sessionId` of a fact is the provider's id of the refund.
 */
export function transitionRefund(
  refund: Refund,
  fact: InstructionFact,
  now: Date,
  wallet: WalletBalances,
): RefundTransition {
  const known = meantBy(refund, fact);
  const rules = transitionRules(refund, known, wallet);
  const { verdict, next, ledgerEffects } = transitionHeld(refund, known, now, rules);
  const hold = holdOf(next);
  // A surplus is not the tenant's, so no more than the requested amount counts against the charge.
  const countedMinor = refund.amount_minor - unspentOf(hold);
  const charge: ChargeChange = { refundingMinor: 0n, refundedMinor: 0n };
  for (const step of ledgerEffects) {
    const [refunding, refunded] = CHARGE_CHANGES[step];
    charge.refundingMinor += refunding * (isHeldBy(step) ? refund.amount_minor : countedMinor);
    charge.refundedMinor += refunded * countedMinor;
  }
  return { verdict, next, ...moveHoldBy(hold, ledgerEffects, now, wallet), ...charge };
}

/** True if an operator states that a completed refund, which the provider rejects by now, has not reached the customer. */
const isForcedAfterSuccess = ({ status }: Refund, fact: InstructionFact): boolean =>
  status === 'completed' &&
  fact.kind === 'rejected' &&
  fact.via === 'operator' &&
  fact.ifNotSubmitted !== true;

/** The fact as it counts for this refund. */
export const meantBy = (refund: Refund, fact: InstructionFact): InstructionFact =>
  isForcedAfterSuccess(refund, fact)
    ? { ...fact, kind: 'reversed', amountMinor: null, sessionId: null }
    : fact;

/** True for the end of a hold, which counts with the requested amount until then. */
const isHeldBy = (step: HoldStep) => step === 'capture' || step === 'release';

/** The part of the amount that an operator's acceptance of another amount leaves in the wallet. */
function unspentBy(refund: Refund, fact: InstructionFact): bigint {
  const settledMinor = fact.kind === 'operator_confirmed' ? (fact.amountMinor ?? null) : null;
  return unspentOf({ ...holdOf(refund), settledMinor });
}

/**
 * The rules of a refund's transitions. The return of a payment in suspense is of that payment's amount alone. What is booked of a
 * completed refund is not corrected to another amount: a provider refunds the amount of the request, its answer with another one
 * is no answer to it, and it does not change the amount later. A report that has another one all the same calls an operator and
 * moves nothing; `complete` ends the call.
 */
export const transitionRules = (
  refund: Refund,
  fact: InstructionFact,
  { availableMinor }: WalletBalances,
): TransitionRules<Refund> => ({
  labels: refundContract.labels,
  requestedMinor: refund.amount_minor,
  acceptsOtherAmount: refund.made_by !== 'operator',
  covered: availableMinor >= refund.amount_minor - unspentBy(refund, fact),
  failure: refundFailure,
  timelineDetails:
    refund.made_by === 'operator'
      ? {
          captured: 'the payment was returned from suspense',
          reversed: 'the payment is in suspense again',
        }
      : {
          captured: 'the hold was captured',
          reversed: 'the amount was credited back to the wallet',
        },
  ...(fact.kind === 'succeeded' && { label: 'refunded' }),
  proof: ({ sessionId }) => ({ provider_refund_id: refund.provider_refund_id ?? sessionId }),
  contradicts: (report) =>
    isAnother(refund, report) ? 'the provider reports it refunded twice' : null,
});

/** True if the provider reports another refund under the reference of this one. */
export function isAnother({ provider_refund_id: known }: Refund, fact: InstructionFact): boolean {
  return (
    fact.kind === 'succeeded' &&
    known !== null &&
    fact.sessionId !== null &&
    fact.sessionId !== known
  );
}
