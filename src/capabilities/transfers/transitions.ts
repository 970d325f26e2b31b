import type { Posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import {
  transitionHeld,
  type TransitionResult,
  type LedgerEffect,
  type TransitionRules,
} from '../../core/instructions/held-transitions.js';
import {
  suspenseDebitPosting,
  capturePosting,
  releasePosting,
  reversalPosting,
  suspensePosting,
} from './postings.js';
import type { NoSuchAccount } from './workflow-contract.js';
import { failure, type Transfer } from './transfer.js';
import { transferContract } from './workflow-contract.js';

/** What became known, whoever said it. */
export type TransferFact = InstructionFact | (FactSource & NoSuchAccount);

/** What of the wallet matters: what can be spent, and what is owed. */
type WalletBalances = Pick<Wallet, 'availableMinor' | 'owedMinor'>;

/** What a fact does to a transfer, and to the money. */
export type Transition = Pick<TransitionResult<Transfer>, 'verdict' | 'next'> & Effects;

type Effects = {
  postings: Posting[];
  /** What is added to the wallet's available balance (negative: taken). */
  availableMinor: bigint;
  /** What the wallet could not cover and owes from now on; negative: what it has paid back. */
  owedMinor: bigint;
  /** What the day of acceptance gets back. */
  dayMinor: bigint;
};

const NO_EFFECTS: Effects = { postings: [], availableMinor: 0n, owedMinor: 0n, dayMinor: 0n };

/** The state guard for transfers: core/instructions/held-transitions.ts decides, here its moves become postings. */
export function transitionTransfer(
  transfer: Transfer,
  fact: TransferFact,
  now: Date,
  wallet: WalletBalances,
): Transition {
  const rules = transitionRules(transfer, wallet);
  if (fact.kind === 'no_such_account') {
    // Once an order may be on its way, only the bank's word about the payment counts.
    const notSubmitted = transfer.status === 'pending' && transfer.submissions === 0;
    if (!notSubmitted) return { verdict: 'stale', next: transfer, ...NO_EFFECTS };
    const rejected = { ...fact, kind: 'rejected', code: 'invalid_account' } as const;
    return applyLedgerEffects(
      transfer,
      transitionHeld(transfer, rejected, now, { ...rules, label: fact.kind }),
      {
        now,
        wallet,
      },
    );
  }
  return applyLedgerEffects(transfer, transitionHeld(transfer, fact, now, rules), { now, wallet });
}

const transitionRules = (
  transfer: Transfer,
  { availableMinor }: WalletBalances,
): TransitionRules<Transfer> => ({
  labels: transferContract.labels,
  requestedMinor: transfer.amount_minor,
  covered: availableMinor >= transfer.total_minor,
  failure,
  timelineDetails: {
    captured: 'the hold was captured, the fee was booked',
    reversed: 'amount and fee were credited back to the wallet',
  },
  proof: ({ kind, sessionId }) => ({
    session_id: kind === 'succeeded' ? sessionId : (sessionId ?? transfer.session_id),
  }),
});

type TransitionContext = { now: Date; wallet: WalletBalances };

function applyLedgerEffects(
  transfer: Transfer,
  { verdict, next, ledgerEffects }: TransitionResult<Transfer>,
  context: TransitionContext,
): Transition {
  const effects = ledgerEffects.reduce<Effects>((sum, ledgerEffect) => {
    const { postings, availableMinor, owedMinor, dayMinor } = balanceChangeOf(
      transfer,
      ledgerEffect,
      context,
    );
    return {
      postings: [...sum.postings, ...postings],
      availableMinor: sum.availableMinor + availableMinor,
      owedMinor: sum.owedMinor + owedMinor,
      dayMinor: sum.dayMinor + dayMinor,
    };
  }, NO_EFFECTS);
  return { verdict, next, ...effects };
}

function balanceChangeOf(
  transfer: Transfer,
  ledgerEffect: LedgerEffect,
  { now, wallet }: TransitionContext,
): Effects {
  const { total_minor: total, amount_minor: dayMinor } = transfer;
  switch (ledgerEffect) {
    case 'capture':
      return { ...NO_EFFECTS, postings: [capturePosting(transfer, now)] };
    case 'release':
      return {
        ...NO_EFFECTS,
        postings: [releasePosting(transfer, now)],
        availableMinor: total,
        dayMinor,
      };
    case 'reversal': {
      const { repaidMinor, restMinor } = payReceivable(wallet, total);
      const postings = [reversalPosting(transfer, now, repaidMinor)];
      return { postings, availableMinor: restMinor, owedMinor: -repaidMinor, dayMinor };
    }
    case 'suspense':
      return { ...NO_EFFECTS, postings: [suspensePosting(transfer, now, 'in')] };
    case 'suspense-reversal':
      return { ...NO_EFFECTS, postings: [suspensePosting(transfer, now, 'out')] };
    case 'suspense-debit': {
      const { availableMinor: available } = wallet;
      const owedMinor = available >= total ? 0n : total - available;
      const postings = [suspenseDebitPosting(transfer, now, owedMinor)];
      return { ...NO_EFFECTS, postings, availableMinor: owedMinor - total, owedMinor };
    }
  }
}
