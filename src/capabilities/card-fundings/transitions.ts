import { moveHold, type HoldMovement } from '../../core/ledger/posting.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import type {
  HoldStep,
  TransitionResult,
  TransitionRules,
} from '../../core/instructions/held-instruction.js';
import { transitionHeld } from '../../core/instructions/held-transitions.js';
import { isOpen, timelineEntry } from '../../core/instructions/instruction.js';
import {
  newOperation,
  operationFailure,
  type CardOperation,
  bookedMinor,
  fundingHold,
  restOnCard,
  type Funding,
} from '../cards/card-operation.js';
import { cardFundingContract, fundReversalLabels } from './workflow-contract.js';
import type { FundingState } from '../../core/providers/card-issuer.js';

/** The issuer has refused to reverse a funding. Only a fund reversal asks for that. */
type NotReversible = { kind: 'not_reversible'; amountMinor: bigint | null };

/** A fact about a funding or its reversal. */
export type FundingFact = InstructionFact | (FactSource & NotReversible);

/** The available balances of wallet and card, and the receivable of the wallet. */
export type WalletBalances = { availableMinor: bigint; receivableMinor: bigint; cardMinor: bigint };

/** The effect of a fact: the next record, its postings, and the changes of the balances (negative: decreases). */
type FundingTransition = Pick<TransitionResult<CardOperation>, 'verdict' | 'next'> &
  HoldMovement &
  WalletBalances;

const NO_EFFECTS = { postings: [], availableMinor: 0n, receivableMinor: 0n, cardMinor: 0n };

/**
 * The state machine of fundings and fund reversals. core/instructions/held-transitions.ts decides the transition; this
 * function turns its ledger effects into postings and balance changes.
 */
export function transitionCardFunding(
  operation: CardOperation,
  fact: FundingFact,
  now: Date,
  balances: WalletBalances,
): FundingTransition {
  const funding = operation as Funding;
  const interpreted =
    operation.reverses_operation_id === null ? fact : interpretLateFact(funding, fact);
  if (interpreted === 'stale') {
    const next = isOpen(operation) ? reported(operation, now) : operation;
    return { verdict: 'stale', next, ...NO_EFFECTS };
  }
  if (interpreted.kind === 'not_reversible') {
    return { verdict: 'stale', next: operation, ...NO_EFFECTS };
  }
  const rules = transitionRules(funding, fact, now, balances);
  const { verdict, next, ledgerEffects } = transitionHeld(operation, interpreted, now, rules);
  // A reversed funding is recorded as reversed, so that an older `succeeded` that arrives later is not a late success.
  const isReversed =
    next !== operation && interpreted.kind === 'rejected' && fact.kind === 'reversed';
  const known = isReversed ? { ...next, reversed_at: now } : next;
  return { verdict, next: known, ...moveMoney(known as Funding, ledgerEffects, now, balances) };
}

/** A fund reversal whose funding the issuer has reported: a later "not found" proves nothing. */
export const reported = (fundReversal: CardOperation, now: Date): CardOperation =>
  fundReversal.acknowledged_at === null
    ? {
        ...fundReversal,
        acknowledged_at: now,
        version: fundReversal.version + 1,
        updated_at: now,
      }
    : fundReversal;

/**
 * Facts about a funding that is being reversed: `succeeded` is ignored (it is why we reverse); `reversed` and `rejected`
 * release the hold; `not_reversible` captures it. After the end of the reversal, facts have their usual meaning; but once the issuer
 * has reversed the funding, its reports of it are older, whatever their amount.
 */
function interpretLateFact(funding: Funding, fact: FundingFact): FundingFact | 'stale' {
  const { via, actor, providerRequestId, note } = fact;
  const source = { via, actor, providerRequestId, note };
  if (!isOpen(funding) && fact.kind !== 'not_reversible') {
    return funding.reversed_at !== null && isOlderReport(funding, fact) ? 'stale' : fact;
  }
  switch (fact.kind) {
    case 'succeeded':
      return 'stale';
    case 'reversed': {
      const otherAmount = fact.amountMinor !== null && fact.amountMinor !== funding.amount_minor;
      return otherAmount ? fact : { ...source, kind: 'rejected', code: 'deadline_exceeded' };
    }
    case 'not_reversible':
      return { ...source, kind: 'succeeded', amountMinor: fact.amountMinor, sessionId: null };
    default:
      return fact;
  }
}

/** True for a report of a funding, or of the reversal of a part of it, that the issuer has reversed whole. */
const isOlderReport = ({ amount_minor: amount }: Funding, fact: FundingFact): boolean =>
  fact.kind === 'succeeded' ||
  (fact.kind === 'reversed' && fact.amountMinor !== null && fact.amountMinor !== amount);

function transitionRules(
  funding: Funding,
  fact: FundingFact,
  now: Date,
  { availableMinor }: WalletBalances,
): TransitionRules<CardOperation> {
  const late = fact.kind === 'not_reversible' && isOpen(funding);
  const reason = 'funded after the deadline, and the issuer does not take it back';
  return {
    labels:
      funding.reverses_operation_id === null ? cardFundingContract.labels : fundReversalLabels,
    requestedMinor: funding.amount_minor,
    // The reversal of a funding asks for the whole of it back.
    acceptsOtherAmount: funding.reverses_operation_id === null,
    covered: availableMinor >= owedMinor(funding, fact),
    failure: operationFailure,
    timelineDetails: {
      captured: 'the hold was captured for the card',
      reversed: 'the rest of the funding on the card was returned to the wallet',
    },
    ...(late && {
      proof: () => ({ attention: { since: now, reason } }),
      label: 'funded, and not reversible',
    }),
    ...(fact.kind === 'reversed' && { label: 'reversed' }),
  };
}

/** The amount that the wallet pays for a funding: the one that an operator names, up to the requested one. */
function owedMinor(funding: Funding, fact: FundingFact): bigint {
  const named = fact.kind === 'operator_confirmed' ? fact.amountMinor : undefined;
  const fundedMinor = named ?? bookedMinor(funding);
  return fundedMinor < funding.amount_minor ? fundedMinor : funding.amount_minor;
}

type Movement = HoldMovement & WalletBalances;

/** The postings of a transition of a funding, as it is after it, and the changes of the balances. */
const moveMoney = (
  funding: Funding,
  steps: readonly HoldStep[],
  now: Date,
  balances: WalletBalances,
): Movement =>
  steps.reduce<Movement>((sum, step) => {
    const added = moveFunding(funding, step, now, plus(balances, sum));
    return { ...plus(sum, added), postings: [...sum.postings, ...added.postings] };
  }, NO_EFFECTS);

/** The part of a funding that is still on its card. */
function leftOnCard(funding: Funding, { cardMinor }: WalletBalances): bigint {
  const fundedMinor = bookedMinor(funding);
  return cardMinor < fundedMinor ? cardMinor : fundedMinor;
}

const plus = (a: WalletBalances, b: WalletBalances): WalletBalances => ({
  availableMinor: a.availableMinor + b.availableMinor,
  receivableMinor: a.receivableMinor + b.receivableMinor,
  cardMinor: a.cardMinor + b.cardMinor,
});

function moveFunding(
  funding: Funding,
  step: HoldStep,
  now: Date,
  balances: WalletBalances,
): HoldMovement & WalletBalances {
  if (step === 'reversal') {
    // The spent part can't be returned.
    const leftMinor = leftOnCard(funding, balances);
    if (leftMinor === 0n) return NO_EFFECTS;
    return {
      ...moveHold(restOnCard(funding, leftMinor), step, now, balances),
      cardMinor: -leftMinor,
    };
  }
  const toCard = step === 'capture' || step === 'suspense-debit';
  return {
    ...moveHold(fundingHold(funding), step, now, balances),
    cardMinor: toCard ? bookedMinor(funding) : 0n,
  };
}

/** The fact in an issuer's report about a funding, or null if the outcome is not final yet. */
export function fundingFactOf(state: FundingState, source: FactSource): FundingFact | null {
  switch (state.kind) {
    case 'pending':
      return null;
    case 'rejected':
      return { ...source, kind: 'rejected', code: state.code };
    default: {
      const kind = state.kind === 'funded' ? 'succeeded' : 'reversed';
      return { ...source, kind, amountMinor: state.amountMinor, sessionId: null };
    }
  }
}

/** The id of a funding's reversal. A funding has at most one, and tenants never see it. */
export const fundReversalIdOf = (funding: string) => `${funding}-reversal`;

/** A funding that has failed at its deadline, and the reversal that takes over its hold. */
export type Expired = { failed: CardOperation; fundReversal: CardOperation | null };

/**
 * Fails a just-in-time funding that is open at its deadline. If it may have been submitted, a fund reversal takes over its
 * hold; otherwise the caller releases the hold. Null: the deadline has not passed, or the funding has ended before.
 */
export function expire(operation: CardOperation, now: Date): Expired | null {
  const { deadline_at: deadline, submissions } = operation;
  if (deadline === null || deadline > now || !isOpen(operation)) return null;
  const maybeSubmitted = submissions > 0;
  const failed: CardOperation = {
    ...operation,
    status: 'failed',
    failure: operationFailure('deadline_exceeded'),
    attention: null,
    next_check_at: null,
    version: operation.version + 1,
    updated_at: now,
    timeline: [
      ...operation.timeline,
      timelineEntry(now, 'note', 'bursar', {
        detail: maybeSubmitted
          ? 'not confirmed by the deadline: the hold is kept until nothing of it is on the card'
          : 'not sent by the deadline',
      }),
      ...(maybeSubmitted
        ? []
        : [
            timelineEntry(now, 'released', 'bursar', {
              detail: 'the hold was released to the wallet',
            }),
          ]),
    ],
  };
  return { failed, fundReversal: maybeSubmitted ? newFundReversal(operation, now) : null };
}

function newFundReversal(operation: CardOperation, now: Date): CardOperation {
  const {
    _id: reversesOperationId,
    tenant_id: tenantId,
    card_id: card,
    provider,
    amount_minor,
    currency,
    first_submitted_at,
    acknowledged_at,
  } = operation;
  const id = fundReversalIdOf(reversesOperationId);
  return newOperation(
    {
      _id: id,
      reference: id,
      type: 'fund_reversal',
      status: 'processing',
      reverses_operation_id: reversesOperationId,
      tenant_id: tenantId,
      card_id: card,
      provider,
      amount_minor,
      currency,
      // The submission of the funding: the issuer must be asked about it.
      submissions: 1,
      first_submitted_at,
      acknowledged_at,
    },
    now,
    `took over the hold of ${reversesOperationId} at its deadline`,
  );
}
