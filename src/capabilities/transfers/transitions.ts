import {
  moveHoldBy,
  unspentOf,
  type HoldMovement,
  type WalletBalances,
} from '../../core/ledger/hold-postings.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import {
  transitionHeld,
  type TransitionResult,
  type TransitionRules,
} from '../../core/instructions/held-transitions.js';
import { holdOf } from './postings.js';
import type { NoSuchAccount } from './workflow-contract.js';
import { failure, type Transfer } from './transfer.js';
import { transferContract } from './workflow-contract.js';

/** A fact about a transfer, from any source. */
export type TransferFact = InstructionFact | (FactSource & NoSuchAccount);

/** The effect of a fact: the next record, its postings, and the changes of the wallet's balances. */
export type Transition = Pick<TransitionResult<Transfer>, 'verdict' | 'next'> &
  HoldMovement & {
    /** Amount that the daily limit of the day of acceptance gets back. */
    dayMinor: bigint;
  };

/**
 * The state machine of transfers. core/instructions/held-transitions.ts decides the transition; this function turns its
 * ledger effects into postings and balance changes.
 */
export function transitionTransfer(
  transfer: Transfer,
  fact: TransferFact,
  now: Date,
  wallet: WalletBalances,
): Transition {
  const rules = transitionRules(transfer, fact, wallet);
  if (fact.kind === 'no_such_account') {
    // Once a submission may have been made, only the bank's report about the payment counts.
    const notSubmitted = transfer.status === 'pending' && transfer.submissions === 0;
    const nothing = { verdict: 'stale', next: transfer, ledgerEffects: [] } as const;
    if (!notSubmitted) return withMovement(transfer, nothing, now, wallet);
    const rejected = { ...fact, kind: 'rejected', code: 'invalid_account' } as const;
    const result = transitionHeld(transfer, rejected, now, { ...rules, label: fact.kind });
    return withMovement(transfer, result, now, wallet);
  }
  return withMovement(transfer, transitionHeld(transfer, fact, now, rules), now, wallet);
}

const transitionRules = (
  transfer: Transfer,
  fact: TransferFact,
  { availableMinor }: WalletBalances,
): TransitionRules<Transfer> => ({
  labels: transferContract.labels,
  requestedMinor: transfer.amount_minor,
  acceptsOtherAmount: true,
  covered: availableMinor >= transfer.total_minor - unspentBy(transfer, fact),
  failure,
  timelineDetails: {
    captured: 'the hold was captured, the fee was booked',
    reversed: 'amount and fee were credited back to the wallet',
  },
  proof: ({ kind, sessionId }) => ({
    session_id: kind === 'succeeded' ? sessionId : (sessionId ?? transfer.session_id),
  }),
});

/** The part of the amount that an operator's acceptance of another amount leaves in the wallet. */
function unspentBy(transfer: Transfer, fact: TransferFact): bigint {
  const settledMinor = fact.kind === 'operator_confirmed' ? (fact.amountMinor ?? null) : null;
  return unspentOf({ ...holdOf(transfer), settledMinor });
}

function withMovement(
  transfer: Transfer,
  { verdict, next, ledgerEffects }: Readonly<TransitionResult<Transfer>>,
  now: Date,
  wallet: WalletBalances,
): Transition {
  const hold = holdOf(next);
  const returned = ledgerEffects.some((step) => step === 'release' || step === 'reversal');
  const unspentMinor = ledgerEffects.includes('capture') ? unspentOf(hold) : 0n;
  return {
    verdict,
    next,
    ...moveHoldBy(hold, ledgerEffects, now, wallet),
    dayMinor: returned ? transfer.amount_minor - unspentOf(holdOf(transfer)) : unspentMinor,
  };
}
