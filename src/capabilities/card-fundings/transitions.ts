import type { Posting } from '../../core/ledger/posting.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import {
  transitionHeld,
  type TransitionResult,
  type LedgerEffect,
  type TransitionRules,
} from '../../core/instructions/held-transitions.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { operationFailure, type CardOperation } from '../cards/card-operation.js';
import {
  adoptionPosting,
  capturePosting,
  releasePosting,
  reversalPosting,
  suspensePosting,
  type Funding,
} from './postings.js';
import { cardFundingContract, fundReversalLabels } from './workflow-contract.js';

/** The issuer does not take back what it has funded: only an unwinding asks for that. */
export type NotReversible = { kind: 'not_reversible'; amountMinor: bigint | null };

/** What became known of a funding, whoever said it. */
export type FundingFact = InstructionFact | (FactSource & NotReversible);

/** What can be spent of the wallet and of the card, and what the wallet owes. */
export type Purse = { availableMinor: bigint; owedMinor: bigint; cardMinor: bigint };

/** What a fact does to a funding, and to the money: amounts are what is added (negative: taken). */
export type FundingTransition = Pick<TransitionResult<CardOperation>, 'verdict' | 'next'> & {
  postings: Posting[];
} & Purse;

const idle = { postings: [], availableMinor: 0n, owedMinor: 0n, cardMinor: 0n };

/** The state guard for fundings and their unwinding: core/instructions/held-transitions.ts decides, here its moves become postings. */
export function transitionCardFunding(
  operation: CardOperation,
  fact: FundingFact,
  now: Date,
  purse: Purse,
): FundingTransition {
  const funding = operation as Funding;
  const read = operation.reverses_operation_id === null ? fact : readLate(funding, fact);
  if (read === 'stale' || read.kind === 'not_reversible') {
    return { verdict: 'stale', next: operation, ...idle };
  }
  const terms = termsOf(funding, fact, now, purse);
  const { verdict, next, ledgerEffects } = transitionHeld(operation, read, now, terms);
  // What is known to be off the card again is not taken for late by a word that was sent while it was there.
  const taken = next !== operation && read.kind === 'rejected' && fact.kind === 'reversed';
  const known = taken ? { ...next, reversed_at: now } : next;
  return { verdict, next: known, ...book(funding, ledgerEffects, now, purse) };
}

/**
 * A fact about a funding that is being unwound. That it is on the card is the reason for it and not its end; that
 * nothing of it is there any more, or ever was, gives the hold back; that it stays there lets the wallet pay for it. Once
 * the unwinding has ended, on the card is a payment like any other.
 */
function readLate(funding: Funding, fact: FundingFact): FundingFact | 'stale' {
  const { via, actor, providerRequestId, note } = fact;
  const origin = { via, actor, providerRequestId, note };
  if (!isOpen(funding) && fact.kind !== 'not_reversible') return fact;
  switch (fact.kind) {
    case 'succeeded':
      return 'stale';
    case 'reversed': {
      const other = fact.amountMinor !== null && fact.amountMinor !== funding.amount_minor;
      return other ? fact : { ...origin, kind: 'rejected', code: 'deadline_exceeded' };
    }
    case 'not_reversible':
      return { ...origin, kind: 'succeeded', amountMinor: fact.amountMinor, sessionId: null };
    default:
      return fact;
  }
}

function termsOf(
  funding: Funding,
  fact: FundingFact,
  now: Date,
  { availableMinor }: Purse,
): TransitionRules<CardOperation> {
  const late = fact.kind === 'not_reversible' && isOpen(funding);
  const reason = `funded after the deadline, and the issuer does not take it back`;
  return {
    labels:
      funding.reverses_operation_id === null ? cardFundingContract.labels : fundReversalLabels,
    requestedMinor: funding.amount_minor,
    covered: availableMinor >= funding.amount_minor,
    failure: operationFailure,
    timelineDetails: {
      captured: 'the hold went to the card',
      reversed: 'what the card had left of it went back to the wallet',
    },
    ...(late && {
      proof: () => ({ attention: { since: now, reason } }),
      label: 'funded, and not reversible',
    }),
    ...(fact.kind === 'reversed' && { label: 'reversed' }),
  };
}

function book(funding: Funding, moves: LedgerEffect[], now: Date, purse: Purse) {
  return moves.reduce<Purse & { postings: Posting[] }>((sum, move) => {
    const added = effectOf(funding, move, now, plus(purse, sum));
    return { ...plus(sum, added), postings: [...sum.postings, ...added.postings] };
  }, idle);
}

const plus = (a: Purse, b: Purse): Purse => ({
  availableMinor: a.availableMinor + b.availableMinor,
  owedMinor: a.owedMinor + b.owedMinor,
  cardMinor: a.cardMinor + b.cardMinor,
});

function effectOf(
  funding: Funding,
  move: LedgerEffect,
  now: Date,
  purse: Purse,
): Purse & { postings: Posting[] } {
  const { amount_minor: amount } = funding;
  switch (move) {
    case 'capture':
      return { ...idle, postings: [capturePosting(funding, now)], cardMinor: amount };
    case 'release':
      return { ...idle, postings: [releasePosting(funding, now)], availableMinor: amount };
    case 'reversal': {
      // What was spent of it can't come back; of the rest, what the tenant owes is taken first.
      const leftMinor = least(purse.cardMinor, amount);
      if (leftMinor === 0n) return idle;
      const repaidMinor = least(purse.owedMinor, leftMinor);
      return {
        postings: [reversalPosting(funding, now, { leftMinor, repaidMinor })],
        availableMinor: leftMinor - repaidMinor,
        owedMinor: -repaidMinor,
        cardMinor: -leftMinor,
      };
    }
    case 'suspense':
      return { ...idle, postings: [suspensePosting(funding, now, 'in')] };
    case 'suspense-reversal':
      return { ...idle, postings: [suspensePosting(funding, now, 'out')] };
    case 'suspense-debit': {
      const owedMinor = amount - least(purse.availableMinor, amount);
      const postings = [adoptionPosting(funding, now, owedMinor)];
      return { postings, availableMinor: owedMinor - amount, owedMinor, cardMinor: amount };
    }
  }
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);
