import type { WalletBalances } from '../../core/ledger/posting.js';
import {
  isCovered,
  movePayment,
  type PaymentTransition,
} from '../../core/outgoing-payments/outgoing-payment.js';
import { withProviderFee } from '../../core/outgoing-payments/provider-fee.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import type { TransitionRules } from '../../core/instructions/held-instruction.js';
import { transitionHeld } from '../../core/instructions/held-transitions.js';
import type { NoSuchAccount } from './workflow-contract.js';
import { failure, type Transfer } from './record.js';
import { transferContract } from './workflow-contract.js';

/** A fact about a transfer, from any source. */
export type TransferFact = InstructionFact | (FactSource & NoSuchAccount);

/** The effect of a fact on a transfer. */
export type Transition = PaymentTransition<Transfer>;

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
    if (!notSubmitted) return movePayment(transfer, nothing, now, wallet);
    const rejected = { ...fact, kind: 'rejected', code: 'invalid_account' } as const;
    const result = transitionHeld(transfer, rejected, now, { ...rules, label: fact.kind });
    return movePayment(transfer, result, now, wallet);
  }
  const moved = movePayment(transfer, transitionHeld(transfer, fact, now, rules), now, wallet);
  return withProviderFee(transfer, moved, fact, { now, labels: rules.labels });
}

const transitionRules = (
  transfer: Transfer,
  fact: TransferFact,
  wallet: WalletBalances,
): TransitionRules<Transfer> => ({
  labels: transferContract.labels,
  requestedMinor: transfer.amount_minor,
  acceptsOtherAmount: true,
  correctable: true,
  covered: isCovered(transfer, fact, wallet),
  failure,
  timelineDetails: {
    captured: 'the hold was captured, the fee was booked',
    reversed: 'amount and fee were credited back to the wallet',
  },
  proof: ({ kind, sessionId }) => ({
    session_id: kind === 'succeeded' ? sessionId : (sessionId ?? transfer.session_id),
  }),
});
