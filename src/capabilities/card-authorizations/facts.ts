import type { AuthorizationStatus } from './card-authorization.js';

/** A fact about an authorization. Amounts are in kobo. */
export type AuthorizationFact = {
  /** Identifies the fact, so that a repeat is ignored: made of the issuer's message id, or a name of ours. */
  key: string;
  /** The amount of the fact. Zero where it has none; only a correction may be negative. */
  amount_minor: bigint;
  /** The time of the event itself, not of its arrival. */
  at: Date;
} & (
  | {
      kind: 'approved';
      /** The issuer's message that was approved. */
      message_id: string;
      /** The part of the amount that was held. It is less than all of it only for an approval in our place. */
      held_minor: bigint;
      /** The party that approved in our place; null: we approved. */
      stand_in: 'issuer' | 'network' | null;
    }
  /** Our approval of this message does not count; null: of every message so far. */
  | { kind: 'declined'; message_id: string | null }
  /** Not `final`: more of the hold may be cleared later. */
  | { kind: 'cleared'; final: boolean }
  /** `whole`: all that is held and taken, whatever the amount. */
  | { kind: 'reversed'; whole: boolean }
  | { kind: 'expired' | 'refunded' | 'refund_reversed' | 'corrected' }
);

/** The kind of a fact. */
export type FactKind = AuthorizationFact['kind'];

/** An authorization after its facts. No amount is negative. */
export type AuthorizationBalance = {
  status: AuthorizationStatus;
  heldMinor: bigint;
  /** Taken, and not returned by a reversal. */
  clearedMinor: bigint;
  /** Returned by refunds of the merchant. It may exceed what was cleared. */
  refundedMinor: bigint;
  /** The approved amount, less what was reversed of it. */
  approvedMinor: bigint;
};

/** The order of facts with the same time, which decides between them whatever their order of arrival. */
const KINDS: readonly FactKind[] = [
  'approved',
  'declined',
  'cleared',
  'reversed',
  'expired',
  'refunded',
  'refund_reversed',
  'corrected',
];

/** By time; at the same time by kind, then by key. */
const byTime = (a: AuthorizationFact, b: AuthorizationFact): number =>
  a.at.getTime() - b.at.getTime() ||
  KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
  (a.key < b.key ? -1 : 1);

const NOTHING: AuthorizationBalance = {
  status: 'declined',
  heldMinor: 0n,
  clearedMinor: 0n,
  refundedMinor: 0n,
  approvedMinor: 0n,
};

/**
 * The balance of an authorization after all its facts. Facts are applied in the order in which they happened, so their order
 * of arrival does not change the result.
 *
 * | fact              | effect                                                                                       |
 * | ----------------- | -------------------------------------------------------------------------------------------- |
 * | approved          | holds its part of the amount, on top of what is held                                         |
 * | declined          | our approval of that message does not count: the issuer did not get it, or it was voided     |
 * | cleared           | takes the amount, also without a hold; lowers the hold by it, and to zero if it is final     |
 * | reversed          | returns its amount, first from the hold, then from what was taken before; or all of it       |
 * | expired           | releases the hold                                                                            |
 * | refunded          | the merchant returns the amount, also of a payment that is not known here                    |
 * | refund_reversed   | the refund is taken back                                                                     |
 * | corrected         | the amount taken is corrected by this much                                                   |
 */
export function balanceAfter(facts: readonly AuthorizationFact[]): AuthorizationBalance {
  return facts
    .filter((fact) => fact.kind !== 'approved' || !isVoided(fact, facts))
    .toSorted(byTime)
    .reduce(balanceAfterFact, NOTHING);
}

/** The sum of the approvals that count, also of those that were reversed or have expired since. */
export const approvedIn = (facts: readonly AuthorizationFact[]): bigint =>
  facts.reduce(
    (sum, fact) =>
      fact.kind === 'approved' && !isVoided(fact, facts) ? sum + fact.amount_minor : sum,
    0n,
  );

/** True if we have approved this message, and no decline voids that. */
export const isInForce = (facts: readonly AuthorizationFact[], messageId: string): boolean =>
  facts.some(
    (fact) =>
      fact.kind === 'approved' &&
      fact.stand_in === null &&
      fact.message_id === messageId &&
      !isVoided(fact, facts),
  );

/** True if a decline voids this approval. An approval in our place is voided by nothing: only a reversal ends it. */
function isVoided(
  { message_id: id, stand_in: standIn, at }: Extract<AuthorizationFact, { kind: 'approved' }>,
  facts: readonly AuthorizationFact[],
): boolean {
  if (standIn !== null) return false;
  return facts.some(
    (fact) =>
      fact.kind === 'declined' &&
      (fact.message_id === null ? fact.at >= at : fact.message_id === id),
  );
}

/**
 * True if the issuer has ended the payment, or declined this message, after the time of the request: the request was on its way
 * for so long that its answer is not waited for any more.
 */
export const endedSince = (
  facts: readonly AuthorizationFact[],
  { messageId, requestedAt }: { messageId: string; requestedAt: Date },
): boolean =>
  facts.some((fact) => {
    if (fact.kind === 'declined' && fact.message_id !== null) return fact.message_id === messageId;
    return isEnd(fact) && fact.at >= requestedAt;
  });

const isEnd = (fact: AuthorizationFact): boolean =>
  fact.kind === 'declined' ||
  (fact.kind === 'expired' && !fact.key.startsWith(OUR_EXPIRY)) ||
  (fact.kind === 'cleared' && fact.final) ||
  (fact.kind === 'reversed' && fact.whole);

/** The beginning of the key of an expiry that our own clock found. */
export const OUR_EXPIRY = 'hold-expired-';

function balanceAfterFact(
  balance: AuthorizationBalance,
  fact: AuthorizationFact,
): AuthorizationBalance {
  const { status, heldMinor, clearedMinor, refundedMinor } = balance;
  const { amount_minor: amount } = fact;
  switch (fact.kind) {
    case 'approved':
      return {
        ...balance,
        status: clearedMinor > 0n ? 'partially_cleared' : 'approved',
        heldMinor: heldMinor + fact.held_minor,
        approvedMinor: balance.approvedMinor + amount,
      };
    case 'cleared': {
      const left = fact.final ? 0n : without(heldMinor, amount);
      return {
        ...balance,
        status: left > 0n ? 'partially_cleared' : 'cleared',
        heldMinor: left,
        clearedMinor: clearedMinor + amount,
      };
    }
    case 'reversed':
      return fact.whole ? reverseAll(balance) : reverse(balance, amount);
    case 'expired':
      return { ...balance, status: EXPIRED[status] ?? status, heldMinor: 0n };
    case 'refunded':
      return { ...balance, status: knownStatus(status), refundedMinor: refundedMinor + amount };
    case 'refund_reversed':
      return { ...balance, refundedMinor: without(refundedMinor, amount) };
    case 'corrected':
      return {
        ...balance,
        status: amount > 0n ? knownStatus(status) : status,
        clearedMinor: without(clearedMinor, -amount),
      };
    case 'declined':
      return balance;
  }
}

const EXPIRED: Partial<Record<AuthorizationStatus, AuthorizationStatus>> = {
  approved: 'expired',
  partially_cleared: 'cleared',
};

/** The status of an authorization with money that moved without an approval. */
const knownStatus = (status: AuthorizationStatus): AuthorizationStatus =>
  status === 'declined' ? 'cleared' : status;

/** A declined authorization without a clearing has nothing to reverse. */
const hasNothing = ({ status, clearedMinor }: AuthorizationBalance) =>
  status === 'declined' && clearedMinor === 0n;

/** Refunds have returned a part already, which is not returned twice. */
function reverseAll(balance: AuthorizationBalance): AuthorizationBalance {
  if (hasNothing(balance)) return balance;
  const { clearedMinor, refundedMinor } = balance;
  return {
    ...balance,
    status: 'reversed',
    heldMinor: 0n,
    clearedMinor: least(clearedMinor, refundedMinor),
    approvedMinor: 0n,
  };
}

function reverse(balance: AuthorizationBalance, amount: bigint): AuthorizationBalance {
  if (hasNothing(balance)) return balance;
  const { status, heldMinor: held, clearedMinor: cleared, refundedMinor: refunded } = balance;
  const heldMinor = without(held, amount);
  const fromTaken = least(without(amount, held), without(cleared, refunded));
  const clearedMinor = cleared - fromTaken;
  return {
    ...balance,
    status: heldMinor > 0n ? status : clearedMinor > 0n ? 'cleared' : 'reversed',
    heldMinor,
    clearedMinor,
    approvedMinor: without(balance.approvedMinor, amount),
  };
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);

/** The difference, or zero if it were negative. */
const without = (from: bigint, amount: bigint) => (from > amount ? from - amount : 0n);
