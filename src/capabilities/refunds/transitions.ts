import type { Posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import {
  transitionHeld,
  type TransitionResult,
  type LedgerEffect,
  type TransitionRules,
} from '../../core/instructions/held-transitions.js';
import {
  adoptionPosting,
  capturePosting,
  releasePosting,
  reversalPosting,
  suspensePosting,
} from './postings.js';
import { refundFailure, type Refund } from './refund.js';
import { refundContract } from './workflow-contract.js';

/** What of the wallet matters: what can be spent, and what is owed. */
type Purse = Pick<Wallet, 'availableMinor' | 'owedMinor'>;

/** What is added, to the wallet and to what its charge counts (negative: taken). */
type Effects = Purse & {
  postings: Posting[];
  /** Of the charge: under way, or proven too late and not settled yet. */
  refundingMinor: bigint;
  refundedMinor: bigint;
};

/** What a fact does to a refund, to the money and to the charge. */
export type RefundTransition = Pick<TransitionResult<Refund>, 'verdict' | 'next'> & Effects;

const idle: Effects = {
  postings: [],
  availableMinor: 0n,
  owedMinor: 0n,
  refundingMinor: 0n,
  refundedMinor: 0n,
};

/** The state guard for refunds: core/instructions/held-transitions.ts decides, here its moves become postings. `sessionId`: the provider's id. */
export function transitionRefund(
  refund: Refund,
  fact: InstructionFact,
  now: Date,
  purse: Purse,
): RefundTransition {
  const { verdict, next, ledgerEffects } = transitionHeld(
    refund,
    fact,
    now,
    termsOf(refund, fact, purse),
  );
  const effects = ledgerEffects.reduce<Effects>((sum, move) => {
    const added = effectOf(refund, move, now, purse);
    return {
      postings: [...sum.postings, ...added.postings],
      availableMinor: sum.availableMinor + added.availableMinor,
      owedMinor: sum.owedMinor + added.owedMinor,
      refundingMinor: sum.refundingMinor + added.refundingMinor,
      refundedMinor: sum.refundedMinor + added.refundedMinor,
    };
  }, idle);
  return { verdict, next, ...effects };
}

const termsOf = (
  refund: Refund,
  { kind }: InstructionFact,
  { availableMinor }: Purse,
): TransitionRules<Refund> => ({
  labels: refundContract.labels,
  requestedMinor: refund.amount_minor,
  covered: availableMinor >= refund.amount_minor,
  failure: refundFailure,
  timelineDetails: {
    captured: 'the hold was captured',
    reversed: 'the amount was credited back to the wallet',
  },
  ...(kind === 'succeeded' && { label: 'refunded' }),
  proof: ({ sessionId }) => ({ provider_refund_id: refund.provider_refund_id ?? sessionId }),
  contradicts: (fact) =>
    isAnother(refund, fact) ? 'the provider reports it refunded twice' : null,
});

/** Refunded under our marker, and not the refund that is booked. */
function isAnother({ provider_refund_id: booked }: Refund, fact: InstructionFact): boolean {
  return (
    fact.kind === 'succeeded' &&
    booked !== null &&
    fact.sessionId !== null &&
    fact.sessionId !== booked
  );
}

function effectOf(refund: Refund, move: LedgerEffect, now: Date, purse: Purse): Effects {
  const { amount_minor: amount } = refund;
  switch (move) {
    case 'capture': {
      const postings = [capturePosting(refund, now)];
      return { ...idle, postings, refundingMinor: -amount, refundedMinor: amount };
    }
    case 'release': {
      const postings = [releasePosting(refund, now)];
      return { ...idle, postings, availableMinor: amount, refundingMinor: -amount };
    }
    case 'reversal': {
      const { repaidMinor, restMinor } = payReceivable(purse, amount);
      const postings = [reversalPosting(refund, now, repaidMinor)];
      const back = { availableMinor: restMinor, owedMinor: -repaidMinor };
      return { ...idle, postings, ...back, refundedMinor: -amount };
    }
    case 'suspense':
      return {
        ...idle,
        postings: [suspensePosting(refund, now, 'in')],
        refundingMinor: amount,
      };
    case 'suspense-reversal':
      return {
        ...idle,
        postings: [suspensePosting(refund, now, 'out')],
        refundingMinor: -amount,
      };
    case 'suspense-debit': {
      const owedMinor = amount - least(purse.availableMinor, amount);
      const postings = [adoptionPosting(refund, now, owedMinor)];
      const taken = { availableMinor: owedMinor - amount, owedMinor };
      return { postings, ...taken, refundingMinor: -amount, refundedMinor: amount };
    }
  }
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);
